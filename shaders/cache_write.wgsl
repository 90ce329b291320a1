// Turns the queries in place and puts turned keys, and values, into the cache of one layer.
// qkv [items, width] scalars; cache [key | value][slot][key head][position][stride], `plane` scalars to the values.
// One thread an item and head; columns turn in pairs (c, c + half), values do not turn. Padding columns of the cache stay zero.
struct Dims {
  width: u32, heads: u32, key_heads: u32, stride: u32, half: u32, positions: u32, plane: u32,
}

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Cursor>;
@group(0) @binding(3) var<storage, read> angles: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> qkv: array<f32>;
@group(0) @binding(5) var<storage, read_write> cache: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  let heads = dims.heads + 2u * dims.key_heads;
  if (index >= batch.items * heads) { return; }
  let item = index / heads;
  let head = index % heads;
  // A finished rollout keeps what it has: its later layers are no longer computed.
  if (items[item].done == 1u) { return; }
  let position = items[item].position;
  let base = item * dims.width + head * dims.stride;
  // Heads are queries, keys, values, in this order.
  let own = max(head, dims.heads) - dims.heads;
  let row = (items[item].slot * dims.key_heads + own % dims.key_heads) * dims.positions + position;
  let to = (own / dims.key_heads) * dims.plane + row * dims.stride;
  for (var column = 0u; column < dims.half; column++) {
    var u = qkv[base + column];
    var v = qkv[base + column + dims.half];
    if (head < dims.heads + dims.key_heads) {
      let turn = angles[position * dims.half + column];
      let turned = u * turn.x - v * turn.y;
      v = v * turn.x + u * turn.y;
      u = turned;
    }
    if (head < dims.heads) {
      qkv[base + column] = u;
      qkv[base + column + dims.half] = v;
    } else {
      cache[to + column] = u;
      cache[to + column + dims.half] = v;
    }
  }
}
