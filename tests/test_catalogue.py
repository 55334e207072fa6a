"""What is read from the files of rules is what the rules are."""

from amplint.rules.catalogue import catalogue
from amplint.rules.registry import all_rules


def test_the_catalogue_says_what_the_rules_say() -> None:
    assert [tuple(entry) for entry in catalogue()] == [
        (
            item.rule.code,
            item.rule.name,
            str(item.rule.severity),
            str(item.rule.fix),
            str(item.rule.contract),
            item.rule.since,
            item.rule.is_default,
            item.rule.is_preview,
            item.page,
        )
        for item in all_rules()
    ]
