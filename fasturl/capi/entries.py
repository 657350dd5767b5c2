"""How a function of the table is compiled: as Numba compiles a C callback, but in one piece.

Numba's callbacks call the function that they stand for. For a function of eleven arguments, handing these on
costs more than checking them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from .._kernels.compiling import _OPTIONS

OPTIONS = {**_OPTIONS, "forceinline": True}


class _Lower(Lower):  # type: ignore[misc]  # numba carries no types
    def create_cfunc_wrapper(self) -> None:
        """The function that C calls. It reports no exception, since no function of the table raises one."""
        context, made = self.context, self.fndesc
        module = context.create_module("entry")
        function = ir.Function(
            module, context.call_conv.get_function_type(made.restype, made.argtypes), made.llvm_func_name
        )
        arguments = [context.get_value_type(argument) for argument in made.argtypes]
        entry = ir.Function(
            module,
            ir.FunctionType(context.get_value_type(made.restype), arguments),
            made.llvm_cfunc_wrapper_name,
        )
        builder = ir.IRBuilder(entry.append_basic_block())
        _, result = context.call_conv.call_function(
            builder, function, made.restype, made.argtypes, entry.args
        )
        builder.ret(result)
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):  # type: ignore[misc]  # numba carries no types
    _name = "lowering_of_entries"
    lowering_class = _Lower


class Compiler(CompilerBase):  # type: ignore[misc]  # numba carries no types
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_Lowering if step is NativeLowering else step, text) for step, text in passes.passes
        ]
        passes.finalize()
        return [passes]
