// grad[id] += sum of dx over the items that hold id, in the order in which the host lists them: no atomics.
// dx [items, width], grad [vocab, width], width in vec4s. starts [vocab + 1] points into order [items].
struct Dims { width: u32, vocab: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> order: array<u32>;
@group(0) @binding(4) var<storage, read> dx: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> grad: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  if (index >= dims.vocab * dims.width) { return; }
  let id = index / dims.width;
  let column = index % dims.width;
  var sum = vec4f(0.0);
  for (var at = starts[id]; at < starts[id + 1u]; at++) { sum += dx[order[at] * dims.width + column]; }
  grad[index] += sum;
}
