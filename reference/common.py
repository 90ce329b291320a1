"""What both checks share: the dump of an engine, the model as `transformers` opens it, and a verdict on figures."""

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM


def arguments(description: str) -> Path:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path, help="what reference/dump.ts wrote: engine.json and model/")
    return parser.parse_args().folder


def load(folder: Path):
    """The dump, and the model in float64: its rounding is then no part of a difference."""
    dump = json.loads((folder / "engine.json").read_text())
    model, report = AutoModelForCausalLM.from_pretrained(
        folder / "model", dtype=torch.float64, attn_implementation="eager", output_loading_info=True
    )
    for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not report[problem], f"{problem}: {report[problem]}"
    print(f"{dump['engine']['adapter']}: {type(model).__name__}, {sum(p.numel() for p in model.parameters()):,} weights")
    return dump, model.eval()


def log_probabilities(model, ids: torch.Tensor, temperature: float, suppressed: list[int]) -> torch.Tensor:
    """[n − 1, vocab]: the law of each token given those before it, at a temperature and without the padding ids."""
    logits = model(ids[None, :-1]).logits[0] / temperature
    logits[:, suppressed] = -torch.inf
    return logits.log_softmax(-1)


def numbers(values) -> torch.Tensor:
    return torch.tensor([float("nan") if x is None else x for x in values], dtype=torch.float64)


@dataclass
class Verdict:
    """Prints one figure a line beside its bound."""

    failures: list[str] = field(default_factory=list)

    def at_most(self, what: str, figure, bound: float) -> None:
        self.holds(f"{what:<52} {float(figure):9.2e}  at most {bound:.0e}", float(figure) <= bound)

    def holds(self, what: str, true: bool) -> None:
        print(f"  {'ok  ' if true else 'FAIL'}  {what}")
        if not true:
            self.failures.append(what)

    def close(self) -> None:
        print(f"{len(self.failures)} failed" if self.failures else "all agree")
        raise SystemExit(1 if self.failures else 0)
