"""Ground floor: compiled functions over arrays, and nothing else.

Kernels trust their callers: the object layer above has checked every argument. They draw from generator rows
that the caller owns, write into arrays that the caller owns, and keep no state, so the same arguments always
give the same bits. Arguments marked as tuples are the named tuples of `records`. A kernel is compiled, or
loaded from disk, when it is first called.
"""
