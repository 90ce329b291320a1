// y[row] = x[source of row]: the hidden state that predicts each rollout's next token, after a prompt.
// x [items, width], y [rows, width], width in vec4s; batch.items counts the rows.
struct Dims { width: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> cursors: array<Cursor>;
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  if (index >= batch.items * dims.width) { return; }
  y[index] = x[cursors[index / dims.width].source * dims.width + index % dims.width];
}
