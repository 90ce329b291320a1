"""
The GRPO update of an engine against torch: the objective as TRL writes it, its gradient by autograd through the
model as `transformers` opens it, clipping of the norm and one step of torch's AdamW.

    node scripts/cli.mjs reference/dump.ts --out /tmp/dump --model arithmetic-base
    python reference/check_grpo.py /tmp/dump
"""

import torch
from common import Verdict, arguments, load, log_probabilities, numbers

# Below this share of the greatest gradient a sign is rounding, and Adam's first step is a sign.
ADAM_FLOOR = 1e-4


def relative(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Euclidean norm of the difference over that of the reference."""
    assert ours.isfinite().all() and theirs.isfinite().all()
    return ((ours - theirs).norm() / theirs.norm()).item()


LAYER = [
    "input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
    "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
]


def place(name: str) -> tuple[int, ...]:
    """Where a parameter lies among the flat weights: the order of parameterLayout() in src/policy/config.ts."""
    if not name.startswith("model.layers"):
        return (["model.embed_tokens.weight", "", "model.norm.weight", "lm_head.weight"].index(name),)
    _, _, index, *rest = name.removesuffix(".weight").split(".")
    return (1, int(index), LAYER.index(".".join(rest)))


if __name__ == "__main__":
    folder = arguments(__doc__)
    dump, model = load(folder)
    verdict = Verdict()
    update = dump["update"]
    objective = update["objective"]
    low, high, beta = 1 - objective["epsilonLow"], 1 + objective["epsilonHigh"], objective["beta"]

    loss = torch.zeros((), dtype=torch.float64)
    parts = []
    for ids, row in zip(dump["rows"], update["rows"]):
        ids = torch.tensor(ids)
        law = log_probabilities(model, ids, update["temperature"], dump["suppressTokens"])
        lp = law.gather(1, ids[1:, None])[:, 0]
        lp.retain_grad()
        weights, advantages, old, reference = (
            numbers(row[name])[1:] for name in ("weights", "advantages", "oldLogProbs", "referenceLogProbs")
        )
        ratio = (lp - old).exp()
        kl = (reference - lp).exp() - (reference - lp) - 1
        per_token = -torch.min(ratio * advantages, ratio.clamp(low, high) * advantages) + beta * kl
        loss = loss + (weights * per_token).sum()
        clipped = ((ratio < low) & (advantages < 0)) | ((ratio > high) & (advantages > 0))
        parts.append((weights > 0, law, lp, ratio, kl, clipped, ids))
    loss.backward()

    verdict.at_most("loss", abs(loss.item() - update["loss"]), 1e-5)
    greatest = dict.fromkeys(("logProbs", "ratio", "kl", "dLogProb", "gradient"), 0.0)
    clips = masked_exactly_zero = True
    clipped_tokens = counted_tokens = 0
    for (counted, law, lp, ratio, kl, clipped, ids), tokens in zip(parts, update["tokens"]):
        # d loss / d logits = d loss / d lp · (onehot − p) / temperature
        p = law.exp()
        own = p.gather(1, ids[1:, None])[:, 0]
        row_norm = lp.grad.abs() * ((1 - own) ** 2 + (p**2).sum(-1) - own**2).sqrt() / update["temperature"]
        expected = {"logProbs": lp, "ratio": ratio, "kl": kl, "dLogProb": lp.grad, "gradient": row_norm}
        for name, theirs in expected.items():
            ours = numbers(tokens[name])[1:]
            difference = (ours - theirs.detach())[counted]
            assert difference.isfinite().all(), name
            greatest[name] = max(greatest[name], difference.abs().max().item())
        clips &= torch.equal(numbers(tokens["clipped"])[1:][counted].bool(), clipped[counted])
        for name in ("dLogProb", "gradient"):
            masked_exactly_zero &= bool((numbers(tokens[name])[1:][~counted] == 0).all())
        clipped_tokens += int(clipped[counted].sum())
        counted_tokens += int(counted.sum())
    for name, figure in greatest.items():
        verdict.at_most(f"greatest difference of {name}", figure, 1e-4)
    verdict.holds(f"the same tokens are clipped ({clipped_tokens} of {counted_tokens})", clips and clipped_tokens > 0)
    verdict.holds("masked tokens have exactly no gradient", masked_exactly_zero)

    named = dict(model.named_parameters())
    order = sorted(named, key=place)
    ours = numbers(update["gradient"]).split([named[name].numel() for name in order])
    worst = max(((relative(g, named[name].grad.flatten()), name) for g, name in zip(ours, order)))
    verdict.at_most("gradient, relative", relative(torch.cat(ours), torch.cat([named[n].grad.flatten() for n in order])), 1e-4)
    verdict.at_most(f"gradient of {worst[1]}, the worst", worst[0], 1e-3)
    norm = torch.cat([named[n].grad.flatten() for n in order]).norm().item()
    verdict.at_most("norm of the gradient, relative", abs(update["gradNorm"] / norm - 1), 1e-4)

    adam = update["optimizer"]
    before = torch.cat([named[n].detach().flatten().clone() for n in order])
    torch.nn.utils.clip_grad_norm_(model.parameters(), adam["maxGradNorm"])
    sizes = torch.cat([named[n].grad.flatten().abs() for n in order])
    torch.optim.AdamW(
        [
            {"params": [p for p in named.values() if p.dim() == 2], "weight_decay": adam["weightDecay"]},
            {"params": [p for p in named.values() if p.dim() == 1], "weight_decay": 0.0},
        ],
        lr=adam["learningRate"], betas=(adam["beta1"], adam["beta2"]), eps=adam["epsilon"],
    ).step()
    after = torch.cat([named[n].detach().flatten() for n in order])
    clear = (sizes == 0) | (sizes > ADAM_FLOOR * sizes.max())
    difference = (numbers(update["weights"]) - after)[clear].abs().max()
    assert (after - before).abs().max() > adam["learningRate"] / 2, "nothing moved"
    verdict.at_most(f"weights after AdamW, over the rate ({clear.double().mean():.0%} of them)", difference / adam["learningRate"], 1e-2)
    verdict.close()
