"""All run folders as tables that SQL can ask.

    runs/*/ -> read.py: records and what was skipped -> database.py: DuckDB -> commands
                                                     -> over_seeds.py: groups of runs that differ in their seeds only

Files are read as plain data, without the schema of `config.py`: torch stays out, and runs of other versions can be
listed where they say enough.
"""
