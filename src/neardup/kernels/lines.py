"""Lines of documents: which of them are listed, and the documents without these.

Document *d* has the lines *s* in ``parts[d] .. parts[d + 1] - 1``. Line *s* is ``data[cuts[s]:cuts[s + 1]]`` and has
the hash ``hashes[s]`` (uint64) of its ``words[s]`` words.
"""

from neardup.kernels.ascending import first_from
from neardup.kernels.compile import kernel


@kernel
def listed(parts, hashes, words, lists, terms, begins, flags):
    """Flag the lines that the list of their document has; lines without words never.

    Document *d* uses the list number ``lists[d]``, or none if that is negative. List *l* is
    ``terms[begins[l]:begins[l + 1]]`` (uint64), ascending.
    """
    for document in range(parts.size - 1):
        number = lists[document]
        first = begins[number] if number >= 0 else 0
        last = begins[number + 1] if number >= 0 else 0
        for line in range(parts[document], parts[document + 1]):
            low = first_from(terms, first, last, hashes[line])
            flags[line] = words[line] > 0 and low < last and terms[low] == hashes[line]


@kernel
def copy_others(data, cuts, parts, flags, out, bounds):
    """Copy every document without its flagged lines: document *d* becomes ``out[bounds[d]:bounds[d + 1]]``."""
    count = 0
    for document in range(parts.size - 1):
        bounds[document] = count
        for line in range(parts[document], parts[document + 1]):
            if not flags[line]:
                for position in range(cuts[line], cuts[line + 1]):
                    out[count] = data[position]
                    count += 1
    bounds[parts.size - 1] = count
