"""Many runs at once.

    trials -> run.py (what is next, what is tried again) -> an engine (trial.py, ray_engine.py) -> child.py (one trial)
                 |
                 +-> progress.py (reads the run folders) -> a view that shows them

Both engines train a trial in a child process of one thread with the same command. All that a child shares with the
sweep is its run folder, so a sweep that is started again finds what is finished and resumes what is not.
"""
