"""ROUGE-1.5.5 is called as published: a stand-in in Perl with its options, its settings file and its output."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwright.errors import InputError
from listwright.summarize.rouge155 import find_rouge, rouge_155

# Options and usage of the published program; it scores words without stems, averaged over references and clusters.
STAND_IN = r"""
use strict; use Getopt::Std;
my %opt; getopts('ade:f:hHl:b:mn:p:r:s2:3:t:uvw:xzcM', \%opt) or die "usage\n";
die "no ROUGE_EVAL_HOME\n" unless -d $opt{e};
die "options\n" unless $opt{n} == 1 && $opt{m} && $opt{a} && $opt{x} && @ARGV == 1;
open(my $in, '<', $ARGV[0]) or die "no settings\n"; my $xml = do { local $/; <$in> };
die "no version\n" unless $xml =~ /^<ROUGE-EVAL version="1\.5\.5">/;
sub text { open(my $f, '<', "$_[0]/$_[1]") or die "no $_[0]/$_[1]\n"; local $/; return scalar <$f>; }
sub unescaped { my ($s) = @_; $s =~ s/&lt;/</g; $s =~ s/&gt;/>/g; $s =~ s/&amp;/&/g; return $s; }
sub counts { my %c; $c{lc $_}++ for $_[0] =~ /\w+/g; return \%c; }
sub total { my $n = 0; $n += $_ for values %{$_[0]}; return $n; }
my ($n, %sum) = (0, R => 0, P => 0, F => 0);
while ($xml =~ m{<EVAL ID="[^"]+">(.*?)</EVAL>}gs) {
  my $eval = $1;
  my ($peers) = $eval =~ m{<PEER-ROOT>\s*(.*?)\s*</PEER-ROOT>}s or die "no peer root\n";
  my ($models) = $eval =~ m{<MODEL-ROOT>\s*(.*?)\s*</MODEL-ROOT>}s or die "no model root\n";
  $eval =~ /<INPUT-FORMAT TYPE="SPL">/ or die "no format\n";
  my ($peer) = $eval =~ m{<P ID="[^"]+">(.*?)</P>} or die "no peer\n";
  my $said = counts(substr(text(unescaped($peers), $peer), 0, $opt{b}));
  while ($eval =~ m{<M ID="[^"]+">(.*?)</M>}g) {
    my $wanted = counts(text(unescaped($models), $1)); my $hits = 0;
    for (keys %$wanted) { my $s = $said->{$_} // 0; $hits += $s < $wanted->{$_} ? $s : $wanted->{$_}; }
    my ($r, $p) = ($hits / total($wanted), $hits / total($said));
    $sum{R} += $r; $sum{P} += $p; $sum{F} += $hits ? 2 * $r * $p / ($r + $p) : 0; $n++;
  }
}
print "-" x 45, "\n";
for (qw(R P F)) {
  my $m = $sum{$_} / $n;
  printf "listwright ROUGE-1 Average_%s: %.5f (95%%-conf.int. %.5f - %.5f)\n", $_, $m, $m - 0.01, $m + 0.01;
}
"""


@pytest.fixture
def program(tmp_path: Path, needs) -> Path:
    """The stand-in, in a folder whose name must be escaped in XML."""
    needs("perl")
    folder = tmp_path / "R & D"
    (folder / "data").mkdir(parents=True)
    (folder / "ROUGE-1.5.5.pl").write_text(STAND_IN)
    return find_rouge(folder)


def test_scores_are_those_of_the_texts(program: Path) -> None:
    found = rouge_155(program, ["rain fell", "a b c d"], [["rain stopped today"], ["a b", "x"]], n_bytes=100)
    recall, precision = (1 / 3 + 1 + 0) / 3, (1 / 2 + 1 / 2 + 0) / 3
    f = (2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2) + 2 / 3 + 0) / 3
    for metric, value in (("rouge1_r", recall), ("rouge1_p", precision), ("rouge1_f", f)):
        assert found[metric] == pytest.approx((value, value - 0.01, value + 0.01), abs=1e-5)


def test_only_the_first_bytes_count(program: Path) -> None:
    short = rouge_155(program, ["rain fell"], [["rain fell"]], n_bytes=4)
    assert short["rouge1_r"][0] == pytest.approx(0.5)
    assert short["rouge1_p"][0] == pytest.approx(1.0)


def test_texts_with_marks_and_other_letters_arrive(program: Path) -> None:
    found = rouge_155(program, ["<b> & \u00fcber rain"], [["rain"]], n_bytes=100)
    assert found["rouge1_r"][0] == 1.0


def test_what_the_program_says_is_told(program: Path) -> None:
    program.write_text('print "listwright ROUGE-2 Average_R: 0.1 (95%-conf.int. 0.1 - 0.1)\\n";')
    with pytest.raises(InputError, match=r"gave no ROUGE-1 scores \(exit code 0\): listwright ROUGE-2"):
        rouge_155(program, ["rain"], [["rain"]], n_bytes=10)
