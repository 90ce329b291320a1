// x[i] = table[token_i]. Tokens are the first word of records of `stride` words.
// x [items, width], table [vocab, width], width in vec4s. Ids must lie in the table.
struct Dims { width: u32, stride: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> x: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  if (index >= batch.items * dims.width) { return; }
  let item = index / dims.width;
  x[index] = table[items[item * dims.stride] * dims.width + index % dims.width];
}
