// dx = residual + r · (gain · dy − x · r² · mean(gain · dy · x)); `residual` only where dims.add is 1.
// x, dy, residual, dx [items, width], gain [width], r [items]; width in vec4s, `size` unpadded columns.
struct Dims { width: u32, size: f32, add: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> r: array<f32>;
@group(0) @binding(4) var<storage, read> gain: array<vec4f>;
@group(0) @binding(5) var<storage, read> dy: array<vec4f>;
@group(0) @binding(6) var<storage, read> residual: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> dx: array<vec4f>;

@compute @workgroup_size(LANES, ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let row = linear_group(group, groups) * ROWS + local.y;
  let safe = min(row, batch.items - 1u);
  let base = safe * dims.width;
  var along = 0.0;
  for (var i = local.x; i < dims.width; i += LANES) { along += dot(gain[i] * dy[base + i], x[base + i]); }
  let scale = r[safe];
  let pull = row_sum(along, local) / dims.size * scale * scale;
  if (row >= batch.items) { return; }
  for (var i = local.x; i < dims.width; i += LANES) {
    let own = scale * (gain[i] * dy[base + i] - x[base + i] * pull);
    if (dims.add == 1u) { dx[base + i] = residual[base + i] + own; } else { dx[base + i] = own; }
  }
}
