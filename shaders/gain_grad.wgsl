// grad[s] += sum of dy · x · r over the items of split s: the gradient of an RMSNorm's gain, first phase.
// dy, x [items, width], r [items], grad [splits, stride] of which the first `width` vec4s are this gain's.
struct Dims { width: u32, stride: u32, splits: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> r: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> grad: array<vec4f>;

@compute @workgroup_size(16)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 16u + local;
  if (index >= dims.width * dims.splits) { return; }
  let split = index / dims.width;
  let column = index % dims.width;
  var sum = vec4f(0.0);
  for (var i = split * batch.split; i < min((split + 1u) * batch.split, batch.items); i++) {
    sum += dy[i * dims.width + column] * x[i * dims.width + column] * r[i];
  }
  grad[split * dims.stride + column] += sum;
}
