"""Faults of texts and descriptors."""

from .batches import TABLE1, base
from .faults import fault, patched
from .model import Constant, EventType, Field, build


def texts():
    bad = b"caf\xe9"

    def case(name, about, at, batch):
        fault(name, "bad_text", about, build(batch), at)

    case("text-host", "A host in Latin-1.", "host", base(host=bad))
    case("text-program", "A program with an overlong sequence.", "program", base(program=b"\xc0\xaf"))
    case("text-route", "A route name with a surrogate.", "route_name", base(route_name=b"\xed\xa0\x80"))
    case(
        "text-context-key",
        "A context key cut inside a sequence.",
        "context0.key",
        base(context=[(b"key\xe2\x82", "v")]),
    )
    case(
        "text-context-value",
        "A context value above U+10FFFF.",
        "context0.value",
        base(context=[("k", b"\xf4\x90\x80\x80")]),
    )
    case("text-context-key-empty", "An empty context key.", "context0.key", base(context=[("", "v")]))
    case("text-context-key-long", "A context key of 256 bytes.", "context0.key", base(context=[("k" * 256, "v")]))
    case(
        "text-context-value-long",
        "A context value of 4,097 bytes.",
        "context0.value",
        base(context=[("k", "v" * 4097)]),
    )
    case("text-host-long", "A host of 4,097 bytes.", "host", base(host="h" * 4097))

    def typed(name, about, kind, at):
        case(name, about, at, base(types=[kind], segments=[], counters=[0] * 12))

    typed("text-type-name", "A type's name in Latin-1.", EventType(1, bad), "type0.name")
    typed("text-type-name-empty", "A type without a name.", EventType(1, ""), "type0.name")
    typed("text-type-name-long", "A type's name of 256 bytes.", EventType(1, "n" * 256), "type0.name")
    typed("text-field-name", "A field's name in Latin-1.", EventType(1, "e", [Field("u32", bad)]), "type0.part0")
    typed("text-field-name-empty", "A field without a name.", EventType(1, "e", [Field("u32", "")]), "type0.part0")
    typed("text-unit", "A unit in Latin-1.", EventType(1, "e", [Field("u32", "f", b"\xb5s")]), "type0.part0")
    typed("text-unit-long", "A unit of 256 bytes.", EventType(1, "e", [Field("u32", "f", "u" * 256)]), "type0.part0")
    constant = Constant("string", "c", "", bad)
    typed("text-constant", "A string constant in Latin-1.", EventType(1, "e", [], [constant]), "type0.part0.value")


def descriptors():
    def case(name, about, at, *types):
        fault(name, "bad_descriptor", about, build(base(types=[TABLE1, *types])), at)

    case("type-number-0", "Type number 0.", "type1.number", EventType(0, "zero"))
    case("type-number-twice", "A type number twice.", "type1.number", EventType(1, "again"))
    case("level-0", "Level 0.", "type1.level", EventType(2, "e", level=0))
    case("level-9", "Level 9.", "type1.level", EventType(2, "e", level=9))
    case("field-type-0", "Field type 0.", "type1.part0", EventType(2, "e", [Field(0, "f")]))
    case("field-type-10", "Field type 10.", "type1.part0", EventType(2, "e", [Field(10, "f")]))
    unknown = EventType(2, "e", [], [Constant(10, "c", "", bytes(24))])
    case("constant-type-10", "A constant of type 10, so that its end cannot be told.", "type1.part0", unknown)
    case(
        "field-twice",
        "Two fields of one name.",
        "type1.part1",
        EventType(2, "e", [Field("u32", "f"), Field("u64", "f")]),
    )
    both = EventType(2, "e", [Field("u32", "f")], [Constant("u32", "f", "", 1)])
    case("field-named-like-constant", "A constant named like a field.", "type1.part1", both)
    patched("hash", "bad_descriptor", "A hash that is not the type's.", base(), "type0.hash", "Q", 0x0123456789ABCDEF)
    case(
        "constant-bool",
        "A bool constant of 2.",
        "type1.part0.value",
        EventType(2, "e", [], [Constant("bool", "c", "", 2)]),
    )
