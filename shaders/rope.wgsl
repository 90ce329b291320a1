// Rotary positions in place on the query and key heads of qkv, rotating halves: (u, v) at columns c and c + half
// become (u cos − v sin, v cos + u sin). dims.sign = −1 turns gradients back.
// qkv [items, width] (scalars), of which the first `heads` heads of `stride` columns turn; angles [positions, half] (cos, sin).
// One thread an item and head.
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
  if (index >= batch.items * dims.heads) { return; }
  let item = index / dims.heads;
  let base = item * dims.width + (index % dims.heads) * dims.stride;
  let turns = items[item].position * dims.half;
  for (var column = 0u; column < dims.half; column++) {
    let turn = angles[turns + column];
    let sine = turn.y * dims.sign;
    let u = qkv[base + column];
    let v = qkv[base + column + dims.half];
    qkv[base + column] = u * turn.x - v * sine;
    qkv[base + column + dims.half] = v * turn.x + u * sine;
  }
}
