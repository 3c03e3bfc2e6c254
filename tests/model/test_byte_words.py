"""Bytes in words."""

from pjit_inspect.model.words.sentence import bytes_in_one_unit, bytes_in_words


def test_a_size_has_three_digits_and_the_largest_unit():
    sizes = (0, 1023, 1024, 1536, 1_000 << 10, (1 << 20) - 1, 41_300 << 10, 3 << 30, 5 << 40)
    assert [bytes_in_words(size) for size in sizes] == [
        "0 B", "1,023 B", "1 KiB", "1.5 KiB", "1,000 KiB", "1,024 KiB", "40.3 MiB", "3 GiB", "5 TiB"
    ]  # fmt: skip


def test_sizes_that_are_compared_have_the_unit_of_the_largest():
    assert bytes_in_one_unit((2 << 20, 512 << 10, 3, 0, None)) == (["2.00", "0.50", "<0.01", "0", "unknown"], "MiB")
    assert bytes_in_one_unit((1000, 20)) == (["1,000", "20"], "B")
    assert bytes_in_one_unit((None,)) == (["unknown"], "B")
