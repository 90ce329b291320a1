// y = x · r · gain, r = 1 / sqrt(mean(x²) + epsilon); r is kept for the backward pass.
// x, y [items, width], gain [width], r [items]; width in vec4s, the mean is over `size` unpadded columns.
struct Dims { width: u32, size: f32, epsilon: f32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> gain: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> r: array<f32>;

@compute @workgroup_size(LANES, ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let row = linear_group(group, groups) * ROWS + local.y;
  let base = min(row, batch.items - 1u) * dims.width;
  var squares = 0.0;
  for (var i = local.x; i < dims.width; i += LANES) { squares += dot(x[base + i], x[base + i]); }
  let scale = inverseSqrt(row_sum(squares, local) / dims.size + dims.epsilon);
  if (row >= batch.items) { return; }
  for (var i = local.x; i < dims.width; i += LANES) { y[base + i] = x[base + i] * scale * gain[i]; }
  if (local.x == 0u) { r[row] = scale; }
}
