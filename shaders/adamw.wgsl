// One step of AdamW (Loshchilov and Hutter) over the flat arena; nothing where the gradient is not finite.
// norm as grad_norm.wgsl leaves it; weights, m, v, grad in vec4s; decayed [blocks]: 1 where a block of 64 belongs to a matrix.
struct Dims { count: u32 }
struct Optimizer {
  blocks: u32,
  max_norm: f32,
  rate: f32,
  beta1: f32,
  rest1: f32, // 1 − beta1, exact
  beta2: f32,
  rest2: f32,
  epsilon: f32,
  decay: f32,
  log_beta1: f32,
  log_beta2: f32,
  counts: f32,
}

@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> optimizer: Optimizer;
@group(0) @binding(2) var<storage, read> norm: array<f32>;
@group(0) @binding(3) var<storage, read> decayed: array<u32>;
@group(0) @binding(4) var<storage, read> grad: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> weights: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> m: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> v: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let i = linear_group(group, groups) * 64u + local;
  if (i >= dims.count || norm[2] != 0.0) { return; }
  let g = grad[i] * norm[1];
  let mean = m[i] * optimizer.beta1 + g * optimizer.rest1;
  let square = v[i] * optimizer.beta2 + g * g * optimizer.rest2;
  m[i] = mean;
  v[i] = square;
  let step = mean * norm[4] / (sqrt(square * norm[5]) + optimizer.epsilon);
  let decay = select(0.0, optimizer.decay, decayed[i / 16u] == 1u);
  weights[i] -= optimizer.rate * (step + decay * weights[i]);
}
