"""Kernels in C++ for training on a CPU, compiled on first use in about a second; without a compiler, plain torch.

    library.py      compiles and loads them       vectors.h    vectors and the exponential function
    attention.cpp   biased attention              between.cpp  norm and GeGLU

The autograd functions that call them are `model/biased.py` and `model/between.py`.
"""
