"""Facts as text, for debugging and tests.

One line for each step: its contexts, then the step, with expressions written out. At the end, with dots, the contexts
without steps. A `Phi` reads `{choice | choice}` (`{...}` where it refers to itself), a parameter `$name`, a captured
name `^name` with one circumflex for each def further out, and def number 2 `<2>`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR, ExprId
from loaderlint.facts.piece_facts import PieceFacts

#: Deeper parts of an expression are not written out: the table shares them, but text would repeat them.
MAX_DEPTH = 14


def show(facts: PieceFacts) -> str:
    """The facts in a compact form, without anchors."""
    lines = []
    for number, definition in enumerate(facts.ir.defs):
        writer = _Writer(facts.ir, definition)
        lines.append(writer.head(number))
        lines.extend(f"  {writer.step(step)}" for step in definition.steps)
        lines.extend(f"  {writer.context(context)}..." for context in writer.empty())
    return "\n".join(lines)


class _Writer:
    """Writes the expressions and steps of one def."""

    def __init__(self, piece: ir.PieceIR, definition: DefIR) -> None:
        self.exprs = piece.exprs
        self.defs = piece.defs
        self.definition = definition
        self.pending: list[ExprId] = []

    def head(self, number: int) -> str:
        definition = self.definition
        outer = _Writer(ir.PieceIR(self.exprs, self.defs, ()), self.defs[max(definition.parent, 0)])
        words = [f"<{number}> {definition.kind} {definition.name}".rstrip()]
        if definition.params:
            words.append("(" + ", ".join(outer.parameter(param) for param in definition.params) + ")")
        bases = [outer.expr(base) for base in definition.bases]
        bases += [f"{name}={outer.expr(value)}" for name, value in definition.keywords]
        if bases:
            words.append("(" + ", ".join(bases) + ")")
        words += [f" @{outer.expr(decorator)}" for decorator in definition.decorators]
        words.append(" generator" if definition.is_generator else "")
        words.append("" if definition.falls_through or definition.kind == "lambda" else " leaves")
        return "".join(words)

    def parameter(self, param: ir.ParamIR) -> str:
        mark = {"pos": "/", "any": "", "star": "*", "kw": "kw ", "starstar": "**"}[param.kind]
        text = mark + param.name
        if param.annotation != NONE:
            text += f": {self.expr(param.annotation)}"
        return text if param.default == NONE else f"{text}={self.expr(param.default)}"

    def empty(self) -> list[int]:
        """The contexts without steps."""
        used = {0, *(step.context for step in self.definition.steps)}
        used.update(context.parent for context in self.definition.contexts)
        return [number for number in range(len(self.definition.contexts)) if number not in used]

    def context(self, number: int) -> str:
        parts = []
        while number > 0:
            context = self.definition.contexts[number]
            text = context.kind if context.expr == NONE else f"{context.kind} {self.expr(context.expr)}"
            parts.append(f"not {text}" if context.negated else text)
            number = context.parent
        return "".join(f"[{part}] " for part in reversed(parts))

    def step(self, step: ir.Step) -> str:
        return self.context(step.context) + self._step(step)

    def _step(self, step: ir.Step) -> str:
        match step:
            case ir.Bind(_, name, value, scope, annotation):
                text = name if scope == "local" else f"{scope} {name}"
                text += self._annotated(annotation)
                return text if value == NONE else f"{text} = {self.expr(value)}"
            case ir.SetAttr(_, base, name, value, annotation):
                text = f"{self.expr(base)}.{name}{self._annotated(annotation)}"
                return text if value == NONE else f"{text} = {self.expr(value)}"
            case ir.SetItem(_, base, index, value):
                return f"{self.expr(base)}[{self.expr(index)}] = {self.expr(value)}"
            case ir.Augment(_, target, op, value, stored):
                return f"{stored} {self.expr(target)} {op}= {self.expr(value)}"
            case ir.Return(_, value) | ir.Raise(_, value) | ir.YieldStep(_, value, _):
                word = {"Return": "return", "Raise": "raise", "YieldStep": "yield"}[type(step).__name__]
                if isinstance(step, ir.YieldStep) and step.is_from:
                    word = "yield from"
                return word if value == NONE else f"{word} {self.expr(value)}"
            case ir.StarImport(_, module, level):
                return f"from {'.' * level}{module} import *"
        words = {"Delete": "del", "Perform": "do", "Iterate": "iterate", "Enter": "enter", "Test": "test"}
        return f"{words.get(type(step).__name__, 'eval')} {self.expr(step[1])}"

    def _annotated(self, annotation: ExprId) -> str:
        return "" if annotation == NONE else f": {self.expr(annotation)}"

    def expr(self, number: ExprId) -> str:
        if number == NONE:
            return ""
        if number in self.pending or len(self.pending) > MAX_DEPTH:
            return "{...}"
        self.pending.append(number)
        text = self._expr(self.exprs[number])
        self.pending.pop()
        return text

    def _all(self, numbers: tuple[ExprId, ...]) -> str:
        return ", ".join(self.expr(number) for number in numbers)

    def _expr(self, expr: ir.Expr) -> str:
        match expr:
            case ir.Const(kind, value):
                return f"{value}" if kind in ("bytes", "complex") else "..." if kind == "ellipsis" else repr(value)
            case ir.Param(index):
                params = self.definition.params
                return f"${params[index].name}" if index < len(params) else f"${index}"
            case ir.Capture(up, name):
                return "^" * up + name
            case ir.Global(name):
                return name
            case ir.Imported(module, name, level):
                return f"import({'.' * level}{module}{'' if name is None else ':' + name})"
            case ir.Attr(base, name):
                return f"{self.expr(base)}.{name}"
            case ir.Index(base, index):
                return f"{self.expr(base)}[{self.expr(index)}]"
            case ir.Slice(lower, upper, step):
                text = f"{self.expr(lower)}:{self.expr(upper)}"
                return text if step == NONE else f"{text}:{self.expr(step)}"
            case ir.Call(func, args):
                return f"{self.expr(func)}({', '.join(map(self.argument, args))})"
            case ir.Bin(op, left, right) | ir.BoolOp(op, left, right):
                return f"({self.expr(left)} {op} {self.expr(right)})"
            case ir.Unary(op, operand):
                return f"({op} {self.expr(operand)})"
            case ir.Compare(left, ops, rights):
                pairs = "".join(f" {op} {self.expr(right)}" for op, right in zip(ops, rights, strict=True))
                return f"({self.expr(left)}{pairs})"
            case ir.IfExp(test, then, other):
                return f"({self.expr(then)} if {self.expr(test)} else {self.expr(other)})"
        return self._structured(expr)

    def _structured(self, expr: ir.Expr) -> str:
        match expr:
            case ir.Seq(kind, items):
                return {"list": "[%s]", "tuple": "(%s)", "set": "set(%s)"}[kind] % self._all(items)
            case ir.Map(keys, values):
                pairs = zip(keys, values, strict=True)
                return "{" + ", ".join(f"{self.expr(key) or '**'}: {self.expr(value)}" for key, value in pairs) + "}"
            case ir.Comp(kind, element, key, iterables):
                text = self.expr(element) if key == NONE else f"{self.expr(key)}: {self.expr(element)}"
                return f"{kind}({text} over {self._all(iterables)})"
            case ir.MakeDef(index):
                return f"<{index}>"
            case ir.Text(parts):
                return f"text({self._all(parts)})"
            case ir.Star(value):
                return f"*{self.expr(value)}"
            case ir.Await(value):
                return f"await {self.expr(value)}"
            case ir.Yield(value, is_from):
                return f"sent({'from ' if is_from else ''}{self.expr(value)})"
            case ir.Element(iterable):
                return f"element({self.expr(iterable)})"
            case ir.Unpack(value, index, starred):
                return f"{self.expr(value)}.{'*' if starred else ''}{index}"
            case ir.Entered(manager):
                return f"entered({self.expr(manager)})"
            case ir.Caught(kind):
                return f"caught({self.expr(kind)})"
            case ir.Augmented(op, target, value):
                return f"({self.expr(target)} {op}= {self.expr(value)})"
            case ir.Phi(choices):
                return "{" + " | ".join(self.expr(choice) for choice in choices) + "}"
            case ir.Opaque(reason):
                return f"?{reason}?"
        return repr(expr)

    def argument(self, arg: ir.Arg) -> str:
        mark = {"pos": "", "kw": f"{arg.name}=", "star": "*", "starstar": "**"}[arg.kind]
        return mark + self.expr(arg.value)
