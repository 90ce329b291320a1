// Rotary positions in place on the query and key heads of qkv, rotating halves: (u, v) at columns c and c + half
// become (u cos − v sin, v cos + u sin). dims.sign = −1 turns gradients back.
// qkv [items, width] (scalars), of which the first `heads` heads of `stride` columns turn; angles [positions, half] (cos, sin).
struct Dims { width: u32, heads: u32, stride: u32, half: u32, sign: f32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Item>;
@group(0) @binding(3) var<storage, read> angles: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> qkv: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  let pairs = dims.heads * dims.half;
  if (index >= batch.items * pairs) { return; }
  let item = index / pairs;
  let head = (index % pairs) / dims.half;
  let column = index % dims.half;
  let turn = angles[items[item].position * dims.half + column];
  let sine = turn.y * dims.sign;
  let at = item * dims.width + head * dims.stride + column;
  let u = qkv[at];
  let v = qkv[at + dims.half];
  qkv[at] = u * turn.x - v * sine;
  qkv[at + dims.half] = v * turn.x + u * sine;
}
