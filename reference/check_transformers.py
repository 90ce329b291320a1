"""
Opens a checkpoint in `transformers` and compares what it computes with what an engine wrote down:
log-probabilities, entropies, tokenisation.

    node scripts/cli.mjs reference/dump.ts --out /tmp/dump --model arithmetic-base
    python reference/check_transformers.py /tmp/dump
"""

import torch
from common import Verdict, arguments, load, log_probabilities, numbers
from transformers import AutoTokenizer, GenerationConfig


@torch.no_grad()
def check_scores(dump, model, verdict: Verdict) -> None:
    for score in dump["scores"]:
        greatest = {"log-probability of the token": 0.0, "log-probabilities of all ids": 0.0, "entropy": 0.0}
        for ids, row in zip(dump["rows"], score["rows"]):
            law = log_probabilities(model, torch.tensor(ids), score["temperature"], dump["suppressTokens"])
            n, k = len(ids), len(row["ids"]) // len(ids)
            own = law.gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
            others = torch.tensor(row["ids"]).view(n, k)[1:]
            theirs, ours = law.gather(1, others), numbers(row["alternatives"]).view(n, k)[1:]
            possible = theirs.isfinite()
            # WGSL has no infinities: there an id without mass stands at -1e30.
            assert torch.equal(possible, ours.isfinite() & (ours > -1e29)), "the ids without mass differ"
            entropy = -(law.exp() * law).nan_to_num(0.0).sum(-1)
            for name, difference in (
                ("log-probability of the token", own - numbers(row["logProbs"])[1:]),
                ("log-probabilities of all ids", (theirs - ours)[possible]),
                ("entropy", entropy - numbers(row["entropy"])[1:]),
            ):
                # A NaN must not hide behind max().
                assert difference.isfinite().all(), name
                greatest[name] = max(greatest[name], difference.abs().max().item())
        for name, figure in greatest.items():
            verdict.at_most(f"{name}, temperature {score['temperature']}", figure, 1e-4)


def check_tokenizer(dump, folder, verdict: Verdict) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    for case in dump["texts"]:
        encoded = tokenizer.encode(case["text"], add_special_tokens=False)
        decoded = tokenizer.decode(encoded, skip_special_tokens=False)
        verdict.holds(f"ids of {case['text'][:40]!r}", encoded == case["ids"])
        verdict.holds(f"text of the ids, {case['decoded'][:30]!r}", decoded == case["decoded"])
        # The counterpart of encodePlain: a tag in a text from outside stays text.
        plain = tokenizer.encode(case["text"], add_special_tokens=False, split_special_tokens=True)
        verdict.holds("ids without special tokens", plain == case["plain"])


def check_generation(dump, folder, model, verdict: Verdict) -> None:
    generation = GenerationConfig.from_pretrained(folder / "model")
    verdict.holds("suppress_tokens are those of the engine", generation.suppress_tokens == dump["suppressTokens"])
    prompt = torch.tensor([dump["rows"][0][:7]])
    generation.max_new_tokens = 60
    written = model.float().generate(prompt, attention_mask=torch.ones_like(prompt), generation_config=generation)[0, 7:]
    verdict.holds("generate() writes no suppressed id", not set(written.tolist()) & set(dump["suppressTokens"]))


if __name__ == "__main__":
    folder = arguments(__doc__)
    dump, model = load(folder)
    verdict = Verdict()
    check_scores(dump, model, verdict)
    check_tokenizer(dump, folder, verdict)
    check_generation(dump, folder, model, verdict)
    verdict.close()
