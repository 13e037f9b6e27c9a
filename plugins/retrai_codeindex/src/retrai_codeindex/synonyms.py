"""Words that mean the same in code: what a sentence says, and what a name says.

Verbs and nouns that programmers use for each other, and the usual short forms. They are general:
nothing here comes from a project.
"""

from __future__ import annotations

from collections.abc import Callable

GROUPS = """
return get fetch
remove delete del discard unlink rm clear drop pop
create make new build construct init initialize instantiate setup
check test verify validate is whether
string str text
number num int count
dictionary dict mapping map
directory dir folder path
message msg
argument arg args
parameter param params
configuration config cfg conf option
function func fn callable
execute exec run call invoke
iterate iter iterator
representation repr
character char chars
temporary temp tmp
previous prev
position pos offset
index idx
length len size
expression expr
environment env
variable var
specification spec
attribute attr
value val
command cmd
error err exception exc raise
library lib
object obj
source src
destination dst dest target
memory mem
convert parse format
write save store put
read load
find search lookup locate
list array seq sequence
append add insert push register
display show print
start begin open
stop end close finish
descriptor fd fileno
window win
update refresh
copy clone
equal eq
compare cmp
quote escape
send emit post
receive recv
change modify set
replace substitute sub
information info
address addr
network net
socket sock
process proc
reference ref
definition def
context ctx
request req
response resp
generate gen
statistics stat stats
multiply mul
divide div
subtract sub
absolute abs
maximum max
minimum min
average mean
current cur
original orig
buffer buf
connection conn
decrement dec
increment inc
separator sep
template tmpl
utility util
version ver
"""


def synonym_table(stem: Callable[[str], str]) -> dict[str, frozenset[str]]:
    """For each stem the stems of its synonyms."""
    table: dict[str, set[str]] = {}
    for line in GROUPS.split("\n"):
        words = {stem(word) for word in line.split()}
        for word in words:
            table.setdefault(word, set()).update(words - {word})
    return {word: frozenset(others) for word, others in table.items()}
