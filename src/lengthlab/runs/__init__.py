"""Run folders: written atomically, read with care, queried with SQL.

From Python, `lengthlab.runs("encoding = 'fire' and exact_match_20 > 0.9")` lists the runs that meet a condition, each a
`lengthlab.Run`; without one, all runs. What follows is about the files of this package.

    run.py -> runs/*/ -> reader.py: records, and what was skipped -> database.py: DuckDB -> commands
                                                                  -> groups.py: over seeds, two groups compared

`columns.py` lists what is known of a run; `files.py` writes files whole and reads them with care.
"""
