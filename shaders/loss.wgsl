// One row of logits: the law softmax(logits / temperature) over the ids that are not banned; log-probability of the
// next token and entropy; then, unless objective is 0, d loss / d logits in place of the logits.
// Coefficient c = d loss / d log π, weight included; d logits = c / temperature · (onehot − p).
// results [items, 8]: log-prob, entropy, ratio, k3, clipped, c, |d logits|, weighted loss; with objective 0 the third is
// the log of the sum of exp. Items whose next token does not count get zeros, exactly, whatever their numbers hold.
// logits [most, width] of items first.., allowed [width]: 1, or 0 for banned ids and padding; width in vec4s.
struct Dims { width: u32, first: u32, most: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Item>;
@group(0) @binding(3) var<storage, read> allowed: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> logits: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> results: array<f32>;

// exp(x) − 1 − x without the cancellation near 0.
fn k3(x: f32) -> f32 {
  if (abs(x) > 0.1) { return exp(x) - 1.0 - x; }
  return x * x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * (0.0083333338 + x * 0.0013888889))));
}

@compute @workgroup_size(LANES, ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let count = min(batch.items - dims.first, dims.most);
  let row = linear_group(group, groups) * ROWS + local.y;
  let safe = min(row, count - 1u);
  let base = safe * dims.width;
  let item = items[dims.first + safe];
  let counts = batch.objective == 0u || (item.flags & 1u) == 1u;
  let width = select(0u, dims.width, counts);

  let none = vec4f(-1e30);
  let inverse = 1.0 / batch.temperature;
  var mosts = none;
  for (var j = local.x; j < width; j += LANES) {
    mosts = max(mosts, select(none, logits[base + j] * inverse, allowed[j] > vec4f(0.0)));
  }
  let most = row_max(max(max(mosts.x, mosts.y), max(mosts.z, mosts.w)), local);
  var masses = vec4f(0.0);
  var spreads = vec4f(0.0);
  for (var j = local.x; j < width; j += LANES) {
    // Selected, not multiplied: a banned logit may be anything, and a NaN among the others must stay one.
    let below = select(none, logits[base + j] * inverse - most, allowed[j] > vec4f(0.0));
    let e = select(vec4f(0.0), exp(below), allowed[j] > vec4f(0.0));
    masses += e;
    spreads += e * below;
  }
  let mass = row_sum(dot(masses, vec4f(1.0)), local);
  let spread = row_sum(dot(spreads, vec4f(1.0)), local);
  let log_mass = log(mass);
  var log_prob = -1e30;
  if (allowed[item.goal / 4u][item.goal % 4u] > 0.0) {
    log_prob = logits[base + item.goal / 4u][item.goal % 4u] * inverse - most - log_mass;
  }
  let entropy = log_mass - spread / mass;

  let at = (dims.first + row) * 8u;
  if (batch.objective == 0u) {
    if (row < count && local.x == 0u) {
      results[at] = log_prob;
      results[at + 1u] = entropy;
      results[at + 2u] = most + log_mass;
    }
    return;
  }

  var loss = -log_prob;
  var c = -1.0;
  var ratio = 0.0;
  var kl = 0.0;
  var clipped = false;
  if (batch.objective == 2u) {
    let change = log_prob - item.old;
    ratio = exp(clamp(change, -20.0, 20.0));
    clipped = (item.advantage > 0.0 && ratio > 1.0 + batch.epsilon_high)
      || (item.advantage < 0.0 && ratio < 1.0 - batch.epsilon_low);
    let inside = clamp(ratio, 1.0 - batch.epsilon_low, 1.0 + batch.epsilon_high);
    loss = -min(ratio * item.advantage, inside * item.advantage);
    c = select(-item.advantage * ratio, 0.0, clipped || abs(change) >= 20.0);
    if ((item.flags & 2u) == 2u) {
      let drift = item.reference - log_prob;
      let bounded = clamp(drift, -20.0, 20.0);
      kl = k3(bounded);
      loss += batch.beta * kl;
      if (abs(drift) < 20.0) { c -= batch.beta * expm1(bounded); }
    }
  }
  c *= item.weight;

  // All lanes must have read the goal's logit before one of them writes over it.
  if (LANES > 1u) { storageBarrier(); }
  let slope = c * inverse;
  let share = slope / mass;
  var all = vec4f(0.0);
  for (var j = local.x; j < dims.width; j += LANES) {
    var d = vec4f(0.0);
    if (counts) {
      let e = exp(select(none, logits[base + j] * inverse - most, allowed[j] > vec4f(0.0)));
      let goal = vec4u(4u * j, 4u * j + 1u, 4u * j + 2u, 4u * j + 3u) == vec4u(item.goal);
      d = select(vec4f(0.0), select(vec4f(0.0), vec4f(slope), goal) - share * e, allowed[j] > vec4f(0.0));
    }
    all += d * d;
    if (row < count) { logits[base + j] = d; }
  }
  let squares = row_sum(dot(all, vec4f(1.0)), local);
  if (row >= count || local.x > 0u) { return; }
  results[at] = log_prob;
  results[at + 1u] = entropy;
  results[at + 2u] = ratio;
  results[at + 3u] = kl;
  results[at + 4u] = select(0.0, 1.0, clipped);
  results[at + 5u] = select(0.0, c, counts);
  results[at + 6u] = sqrt(squares);
  results[at + 7u] = select(0.0, loss * item.weight, counts);
}
