"""What declares settings with their defaults: fields of records, options of commands.

Sources: CPython's `dataclasses`; pydantic `fields.py`; attrs `_make.py`; typer `params.py`; click `core.py` and
`decorators.py`."""

from __future__ import annotations

from types import MappingProxyType

#: Calls that declare a field, or a parameter that is an option: the position of the default, None where it has none.
FIELDS: MappingProxyType[str, int | None] = MappingProxyType(
    {
        "dataclasses.field": None,
        "pydantic.Field": 0,
        "pydantic.fields.Field": 0,
        "pydantic.v1.Field": 0,
        "attr.ib": 0,
        "attr.attrib": 0,
        "attr.field": None,
        "attrs.field": None,
        "typer.Option": 0,
        "typer.Argument": 0,
    }
)

#: Their keywords for a function that makes the default.
FACTORIES = ("default_factory", "factory")

#: Base classes of records: an object gets its fields as keywords, and their defaults from the body of the class.
RECORD_BASES = frozenset(
    """
    pydantic.BaseModel pydantic.BaseSettings pydantic_settings.BaseSettings pydantic.v1.BaseModel
    pydantic.v1.BaseSettings typing.NamedTuple tap.Tap
    """.split()
)

#: Decorators that make an option of a command the argument of its function.
OPTION_DECORATORS = frozenset({"click.option", "rich_click.option", "asyncclick.option"})
