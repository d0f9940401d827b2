"""Sentences with the days and the promises that a reader finds in them, written before the rules.

The rules were made with SEEN in view and without HELD. All are said by Ana to Rui on Wednesday, 4 March 2026, at 10:00.
A date is its first and last day, a promise who owes it and the day by which it is due.
"""

from __future__ import annotations

from typing import NamedTuple


class Labelled(NamedTuple):
    text: str
    dates: tuple[str, ...] = ()
    """`2026-03-05`, or `2026-03-09/2026-03-15` for more than a day."""
    promises: tuple[tuple[str, str], ...] = ()


def _of(text: str, *dates: str, promises: tuple[tuple[str, str], ...] = ()) -> Labelled:
    return Labelled(text, dates, promises)


def _owes(text: str, date: str, due: str, who: str = "Ana") -> Labelled:
    return Labelled(text, (date,), ((who, due),))


SEEN = (
    _owes("I'll send you the report tomorrow.", "2026-03-05", "2026-03-05"),
    _owes("I will call the landlord next Friday.", "2026-03-06", "2026-03-06"),
    _owes("I'll have the draft ready in two weeks.", "2026-03-18", "2026-03-18"),
    _owes("I promise to pay you back by the end of the month.", "2026-03-31", "2026-03-31"),
    _owes("Sure, I'll fix the login page by Monday.", "2026-03-09", "2026-03-09"),
    _owes("I'm going to finish the slides this weekend.", "2026-03-07/2026-03-08", "2026-03-08"),
    _owes("I'll get back to you on March 20th about the flat.", "2026-03-20", "2026-03-20"),
    _owes("Let me check with the bank and I'll tell you tonight.", "2026-03-04", "2026-03-04"),
    _owes("Marta will bring the keys on Thursday.", "2026-03-05", "2026-03-05", "Marta"),
    _owes(
        "Marta promised to review the contract by next week.", "2026-03-09/2026-03-15", "2026-03-15", "Marta"
    ),
    _owes('Tom said: "I will book the hotel tomorrow."', "2026-03-05", "2026-03-05", "Tom"),
    _owes("You'll have my answer within three days, I promise.", "2026-03-07", "2026-03-07"),
    _owes("I commit to shipping the fix by 2026-03-13.", "2026-03-13", "2026-03-13"),
    _of("I went to the dentist yesterday.", "2026-03-03"),
    _of("We met Marta last Friday at the new café.", "2026-02-27"),
    _of("Two weeks ago I ran my first marathon.", "2026-02-18"),
    _of("We moved here last summer.", "2025-06-01/2025-08-31"),
    _of("I started at the clinic in January 2024.", "2024-01-01/2024-01-31"),
    _of("The concert was the day before yesterday.", "2026-03-02"),
    _of("I painted that lake sunrise last year!", "2025-01-01/2025-12-31"),
    _of("If it stops raining, I'll wash the car tomorrow.", "2026-03-05"),
    _of("Will you send me the photos by Friday?", "2026-03-06"),
    _of("I won't make it on Sunday.", "2026-03-08"),
    _of("I may drop by on Saturday.", "2026-03-07"),
    _of("I'll never understand that film."),
    _of("The second half of the march was hard, but we did it."),
)
HELD = (
    _owes("I'll email you the invoice by Thursday.", "2026-03-05", "2026-03-05"),
    _owes("No worries, I will drop the parcel off the day after tomorrow.", "2026-03-06", "2026-03-06"),
    _owes("We need a plan, so I'll write one up by the end of next week.", "2026-03-15", "2026-03-15"),
    _owes("I shall return your books in ten days.", "2026-03-14", "2026-03-14"),
    _owes("I'll submit the application before April 3rd.", "2026-04-03", "2026-04-03"),
    _owes("Rui, I will definitely come to your recital next Saturday.", "2026-03-07", "2026-03-07"),
    _owes("I promise I'll clean the garage this Sunday.", "2026-03-08", "2026-03-08"),
    _owes("Elena is going to pick up the cake on Friday afternoon.", "2026-03-06", "2026-03-06", "Elena"),
    _owes('"I\'ll repair the fence on Monday," said Jonas.', "2026-03-09", "2026-03-09", "Jonas"),
    _owes("Elena said she'll return the drill tomorrow morning.", "2026-03-05", "2026-03-05", "Elena"),
    _owes("I'll let the team know by 5pm today.", "2026-03-04", "2026-03-04"),
    _owes("I swear I'll quit smoking by next month.", "2026-04-01/2026-04-30", "2026-04-30"),
    _owes("I will transfer the money on the 15th.", "2026-03-15", "2026-03-15"),
    _owes("You will get the keys from me in a couple of days.", "2026-03-06", "2026-03-06"),
    _of("Last night I saw a fox in the garden.", "2026-03-03"),
    _of("A month ago we adopted a kitten.", "2026-02-04"),
    _of("My sister graduated in 2019.", "2019-01-01/2019-12-31"),
    _of("I had a check-up with the doctor on Monday.", "2026-03-02"),
    _of("We hiked up there two weekends ago.", "2026-02-21/2026-02-22"),
    _of("Our anniversary was on 12 February.", "2026-02-12"),
    _of("The week before last I was in Oslo.", "2026-02-16/2026-02-22"),
    _of("Last October we visited the caves.", "2025-10-01/2025-10-31"),
    _of("I would send it tomorrow if I had the address.", "2026-03-05"),
    _of("Maybe I'll go to the gym on Tuesday.", "2026-03-10"),
    _of("Can you promise to be there on Friday?", "2026-03-06"),
    _of("I will not sell the house next year.", "2027-01-01/2027-12-31"),
    _of("It may rain in the second week."),
    _of("See you tomorrow!", "2026-03-05"),
)
