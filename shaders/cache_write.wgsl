// Turns the queries in place and puts turned keys, and values, into the cache of one layer.
// qkv [items, width] scalars; cache [key | value][slot][key head][position][stride], `plane` scalars to the values.
// One thread a pair of columns (c, c + half) of a head; values do not turn. Padding columns of the cache stay zero.
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
  let pairs = (dims.heads + 2u * dims.key_heads) * dims.half;
  if (index >= batch.items * pairs) { return; }
  let item = index / pairs;
  let head = (index % pairs) / dims.half;
  let column = index % dims.half;
  // A finished rollout keeps what it has: its later layers are no longer computed.
  if (items[item].done == 1u) { return; }
  let position = items[item].position;
  let at = item * dims.width + head * dims.stride + column;
  var u = qkv[at];
  var v = qkv[at + dims.half];
  if (head < dims.heads + dims.key_heads) {
    let turn = angles[position * dims.half + column];
    let turned = u * turn.x - v * turn.y;
    v = v * turn.x + u * turn.y;
    u = turned;
  }
  if (head < dims.heads) {
    qkv[at] = u;
    qkv[at + dims.half] = v;
    return;
  }
  let own = head - dims.heads;
  let key_head = own % dims.key_heads;
  let row = (items[item].slot * dims.key_heads + key_head) * dims.positions + position;
  let to = (own / dims.key_heads) * dims.plane + row * dims.stride + column;
  cache[to] = u;
  cache[to + dims.half] = v;
}
