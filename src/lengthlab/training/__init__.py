"""Training: hardware, schedule, loop, and what a run will cost."""
