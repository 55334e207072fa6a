"""The part of the SARIF 2.1.0 schema that amplint writes: property names, types and required members of each object."""

from typing import Any

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 1}
_INDEX = {"type": "integer", "minimum": 0}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _object(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


_BAG = {"type": "object", "properties": {"tags": {"type": "array", "items": _TEXT, "uniqueItems": True}}}
_MESSAGE = _object("text", text=_TEXT, markdown=_TEXT)
_ARTIFACT = _object(uri={"type": "string", "pattern": r"^[\w%/.,~!$&'()*+;=@:-]+$"}, uriBaseId=_TEXT)
_REGION = _object(startLine=_COUNT, startColumn=_COUNT, endLine=_COUNT, endColumn=_COUNT)
_PHYSICAL = _object("artifactLocation", artifactLocation=_ARTIFACT, region=_REGION)
_LOCATION = _object(
    id=_INDEX,
    physicalLocation=_PHYSICAL,
    logicalLocations=_list(_object(name=_TEXT, fullyQualifiedName=_TEXT)),
    message=_MESSAGE,
)
_FLOW = _object(
    "threadFlows", threadFlows=_list(_object("locations", locations=_list(_object(location=_LOCATION), 1)), 1)
)
_REPLACEMENT = _object("deletedRegion", deletedRegion=_REGION, insertedContent=_object(text=_TEXT))
_CHANGE = _object("artifactLocation replacements", artifactLocation=_ARTIFACT, replacements=_list(_REPLACEMENT, 1))
_FIX = _object("artifactChanges", description=_MESSAGE, artifactChanges=_list(_CHANGE, 1), properties=_BAG)
_RESULT = _object(
    "message",
    ruleId=_TEXT,
    ruleIndex=_INDEX,
    level=_LEVEL,
    message=_MESSAGE,
    locations=_list(_LOCATION),
    relatedLocations=_list(_LOCATION),
    codeFlows=_list(_FLOW),
    fixes=_list(_FIX),
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
)
_RULE = _object(
    "id",
    id=_TEXT,
    name=_TEXT,
    shortDescription=_MESSAGE,
    help=_MESSAGE,
    helpUri={"type": "string", "format": "uri"},
    defaultConfiguration=_object(level=_LEVEL),
    properties=_BAG,
)
_NOTIFICATION = _object("message", level=_LEVEL, message=_MESSAGE, locations=_list(_LOCATION))
_RUN = _object(
    "tool",
    tool=_object("driver", driver=_object("name", name=_TEXT, semanticVersion=_TEXT, rules=_list(_RULE))),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    originalUriBaseIds={"type": "object", "additionalProperties": _object(uri={"type": "string", "pattern": "/$"})},
    invocations=_list(
        _object(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=_list(_NOTIFICATION),
        )
    ),
    results=_list(_RESULT),
)
SARIF = _object(
    "version runs",
    **{"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": _list(_RUN)},
)
