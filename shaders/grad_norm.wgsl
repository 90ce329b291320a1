// The global norm, the factor that clips it, and whether it is finite. One workgroup of one row.
// norm: [norm, scale, 1 where not finite, updates so far, Adam's two corrections 1 / (1 − beta^updates)].
// Updates are counted here, so that one can be queued before it is known whether the one before it was applied.
struct Optimizer {
  blocks: u32,
  max_norm: f32,
  rate: f32,
  beta1: f32,
  rest1: f32, // 1 − beta1, exact
  beta2: f32,
  rest2: f32,
  epsilon: f32,
  decay: f32,
  log_beta1: f32,
  log_beta2: f32,
  counts: f32, // 1 for an update, 0 where the gradient alone is asked for
}

@group(0) @binding(0) var<uniform> optimizer: Optimizer;
@group(0) @binding(1) var<storage, read> squares: array<f32>;
@group(0) @binding(2) var<storage, read_write> norm: array<f32>;

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_id) local: vec3u) {
  var sum = 0.0;
  for (var i = local.x; i < optimizer.blocks; i += LANES) { sum += squares[i]; }
  sum = row_sum(sum, vec3u(local.x, 0u, 0u));
  if (local.x > 0u) { return; }
  let length = sqrt(sum);
  norm[0] = length;
  norm[1] = select(1.0, optimizer.max_norm / length, length > optimizer.max_norm);
  norm[2] = select(1.0, 0.0, is_finite(sum));
  let updates = norm[3] + select(0.0, optimizer.counts, is_finite(sum));
  norm[3] = updates;
  norm[4] = -1.0 / expm1(max(updates * optimizer.log_beta1, -80.0));
  norm[5] = -1.0 / expm1(max(updates * optimizer.log_beta2, -80.0));
}
