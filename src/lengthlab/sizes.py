"""Model shapes by name: the paper's four (its appendix on training details) and small ones for a CPU."""

SHAPE = ("layers", "width", "feedforward", "heads")

SIZES: dict[str, dict[str, int]] = {
    "tiny": {"layers": 1, "width": 32, "feedforward": 64, "heads": 2},  # for tests
    "mini": {"layers": 2, "width": 128, "feedforward": 512, "heads": 4},
    "mini-3": {"layers": 3, "width": 128, "feedforward": 512, "heads": 4},
    "2M": {"layers": 2, "width": 256, "feedforward": 1024, "heads": 4},
    "5M": {"layers": 4, "width": 256, "feedforward": 1024, "heads": 4},
    "25M": {"layers": 6, "width": 512, "feedforward": 2048, "heads": 8},
    "268M": {"layers": 16, "width": 1024, "feedforward": 4096, "heads": 16},
}
