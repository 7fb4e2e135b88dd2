// The reader's forward pass in WebAssembly: scores a question and a passage that stand in one row of tokens.
// Built by build-kernel.sh; the layout of the weights is that of pack.py.
#include <stdint.h>
#include <wasm_simd128.h>

#define SIZE 384
#define INNER 1536
#define HEADS 12
#define HEAD 32
#define MAX_TOKENS 160
#define ROWS 4

typedef struct {
  const float *scale, *bias;
  const int32_t *sum;
  const int8_t *rows;
} Matrix;

typedef struct {
  Matrix query, key, value, out, up, down;
  const float *norm1, *norm2;
} Layer;

static const float *word_scale, *positions, *types, *norm, *score;
static const int8_t *words;
static Layer layers[12];
static int layer_count;

static float x[MAX_TOKENS * SIZE], y[MAX_TOKENS * INNER];
static float q[MAX_TOKENS * SIZE], k[MAX_TOKENS * SIZE], v[MAX_TOKENS * SIZE], kt[MAX_TOKENS * HEAD];
static uint8_t quantized[MAX_TOKENS * INNER];
static float factor[MAX_TOKENS];
static int32_t ids[MAX_TOKENS];
static float weights_of[4 * MAX_TOKENS];

extern uint8_t __heap_base;

__attribute__((export_name("tokens"))) int32_t *tokens(void) { return ids; }

__attribute__((export_name("base"))) uint8_t *base(void) {
  return (uint8_t *)(((uintptr_t)&__heap_base + 63) & ~(uintptr_t)63);
}

static const uint8_t *take(const uint8_t **at, int bytes) {
  const uint8_t *own = *at;
  *at = own + ((bytes + 15) & ~15);
  return own;
}

static Matrix take_matrix(const uint8_t **at, int n, int m) {
  Matrix own;
  own.scale = (const float *)take(at, 4 * n);
  own.bias = (const float *)take(at, 4 * n);
  own.sum = (const int32_t *)take(at, 4 * n);
  own.rows = (const int8_t *)take(at, n * m);
  return own;
}

__attribute__((export_name("open"))) void open_weights(int vocabulary, int count) {
  const uint8_t *at = base();
  word_scale = (const float *)take(&at, 4 * vocabulary);
  words = (const int8_t *)take(&at, vocabulary * SIZE);
  positions = (const float *)take(&at, 4 * MAX_TOKENS * SIZE);
  types = (const float *)take(&at, 4 * 2 * SIZE);
  norm = (const float *)take(&at, 4 * 2 * SIZE);
  layer_count = count;
  for (int i = 0; i < count; i++) {
    layers[i].query = take_matrix(&at, SIZE, SIZE);
    layers[i].key = take_matrix(&at, SIZE, SIZE);
    layers[i].value = take_matrix(&at, SIZE, SIZE);
    layers[i].out = take_matrix(&at, SIZE, SIZE);
    layers[i].norm1 = (const float *)take(&at, 4 * 2 * SIZE);
    layers[i].up = take_matrix(&at, INNER, SIZE);
    layers[i].down = take_matrix(&at, SIZE, INNER);
    layers[i].norm2 = (const float *)take(&at, 4 * 2 * SIZE);
  }
  score = (const float *)take(&at, 4 * (SIZE + 4));
}

// e to the power of values at or below 0, to about 1e-4.
static v128_t exp4(v128_t value) {
  value = wasm_f32x4_max(value, wasm_f32x4_splat(-80.f));
  v128_t t = wasm_f32x4_mul(value, wasm_f32x4_splat(1.44269504f));
  v128_t whole = wasm_f32x4_floor(t);
  v128_t f = wasm_f32x4_sub(t, whole);
  v128_t p = wasm_f32x4_splat(0.0096181f);
  p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_splat(0.0555041f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_splat(0.2402265f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_splat(0.6931472f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, f), wasm_f32x4_splat(1.f));
  v128_t bits = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(whole), wasm_i32x4_splat(127)), 23);
  return wasm_f32x4_mul(p, bits);
}

// GELU by Abramowitz and Stegun's approximation of erf (7.1.26).
static v128_t gelu4(v128_t value) {
  v128_t z = wasm_f32x4_mul(wasm_f32x4_abs(value), wasm_f32x4_splat(0.70710678f));
  v128_t t = wasm_f32x4_div(wasm_f32x4_splat(1.f), wasm_f32x4_add(wasm_f32x4_splat(1.f), wasm_f32x4_mul(wasm_f32x4_splat(0.3275911f), z)));
  v128_t p = wasm_f32x4_splat(1.061405429f);
  p = wasm_f32x4_add(wasm_f32x4_mul(p, t), wasm_f32x4_splat(-1.453152027f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, t), wasm_f32x4_splat(1.421413741f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, t), wasm_f32x4_splat(-0.284496736f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, t), wasm_f32x4_splat(0.254829592f));
  p = wasm_f32x4_mul(p, t);
  v128_t e = exp4(wasm_f32x4_neg(wasm_f32x4_mul(z, z)));
  v128_t erf = wasm_f32x4_sub(wasm_f32x4_splat(1.f), wasm_f32x4_mul(p, e));
  v128_t sign = wasm_v128_and(value, wasm_i32x4_splat(0x80000000));
  erf = wasm_v128_or(erf, sign);
  return wasm_f32x4_mul(wasm_f32x4_mul(value, wasm_f32x4_splat(0.5f)), wasm_f32x4_add(wasm_f32x4_splat(1.f), erf));
}

static float sum4(v128_t value) {
  return wasm_f32x4_extract_lane(value, 0) + wasm_f32x4_extract_lane(value, 1) + wasm_f32x4_extract_lane(value, 2) + wasm_f32x4_extract_lane(value, 3);
}

static int32_t add4(v128_t value) {
  return wasm_i32x4_extract_lane(value, 0) + wasm_i32x4_extract_lane(value, 1) + wasm_i32x4_extract_lane(value, 2) + wasm_i32x4_extract_lane(value, 3);
}

static void normalize(float *row, const float *own) {
  v128_t total = wasm_f32x4_splat(0), squares = wasm_f32x4_splat(0);
  for (int i = 0; i < SIZE; i += 4) total = wasm_f32x4_add(total, wasm_v128_load(row + i));
  v128_t mean = wasm_f32x4_splat(sum4(total) / SIZE);
  for (int i = 0; i < SIZE; i += 4) {
    v128_t d = wasm_f32x4_sub(wasm_v128_load(row + i), mean);
    squares = wasm_f32x4_add(squares, wasm_f32x4_mul(d, d));
  }
  v128_t by = wasm_f32x4_splat(1.f / __builtin_sqrtf(sum4(squares) / SIZE + 1e-12f));
  for (int i = 0; i < SIZE; i += 4) {
    v128_t d = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(row + i), mean), by);
    wasm_v128_store(row + i, wasm_f32x4_add(wasm_f32x4_mul(d, wasm_v128_load(own + i)), wasm_v128_load(own + SIZE + i)));
  }
}

// Rows as 7 bits without a sign, 64 for zero: the only range in which every machine computes the relaxed product alike.
static void quantize(const float *values, int count, int width) {
  for (int r = 0; r < count; r++) {
    const float *row = values + r * width;
    v128_t most = wasm_f32x4_splat(1e-9f);
    for (int i = 0; i < width; i += 4) most = wasm_f32x4_max(most, wasm_f32x4_abs(wasm_v128_load(row + i)));
    float top = wasm_f32x4_extract_lane(most, 0);
    for (int l = 1; l < 4; l++) {
      float other = l == 1 ? wasm_f32x4_extract_lane(most, 1) : l == 2 ? wasm_f32x4_extract_lane(most, 2) : wasm_f32x4_extract_lane(most, 3);
      if (other > top) top = other;
    }
    factor[r] = top / 63.f;
    v128_t by = wasm_f32x4_splat(63.f / top), zero = wasm_f32x4_splat(64.5f);
    for (int i = 0; i < width; i += 16) {
      v128_t parts[4];
      for (int j = 0; j < 4; j++)
        parts[j] = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(row + i + 4 * j), by), zero));
      wasm_v128_store(quantized + r * width + i, wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(parts[0], parts[1]), wasm_i16x8_narrow_i32x4(parts[2], parts[3])));
    }
  }
}

#ifdef PLAIN
static inline v128_t dot(v128_t weight, v128_t input, v128_t sum) {
  v128_t pair = wasm_i16x8_add(wasm_i16x8_extmul_low_i8x16(weight, input), wasm_i16x8_extmul_high_i8x16(weight, input));
  return wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(pair));
}
#else
#if __has_builtin(__builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4)
#define relaxed_dot __builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4
#else
#define relaxed_dot __builtin_wasm_dot_i8x16_i7x16_add_s_i32x4
#endif
typedef signed char bytes __attribute__((vector_size(16)));
typedef int numbers __attribute__((vector_size(16)));
#define dot(weight, input, sum) (v128_t) relaxed_dot((bytes)(weight), (bytes)(input), (numbers)(sum))
#endif

// out = quantized × matrixᵀ + bias; blocks of four rows of tokens by four rows of the matrix.
static void multiply(const Matrix *own, int count, int n, int width, float *out) {
  int padded = (count + ROWS - 1) / ROWS * ROWS;
  for (int r = count; r < padded; r++) {
    factor[r] = 0;
    for (int i = 0; i < width; i += 16) wasm_v128_store(quantized + r * width + i, wasm_i8x16_splat(64));
  }
  for (int c = 0; c < n; c += 4) {
    const int8_t *w = own->rows + c * width;
    for (int r = 0; r < padded; r += ROWS) {
      const uint8_t *a = quantized + r * width;
      v128_t s[ROWS][4];
      for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 4; j++) s[i][j] = wasm_i32x4_splat(0);
      for (int i = 0; i < width; i += 16) {
        v128_t w0 = wasm_v128_load(w + i), w1 = wasm_v128_load(w + width + i);
        v128_t w2 = wasm_v128_load(w + 2 * width + i), w3 = wasm_v128_load(w + 3 * width + i);
#pragma clang loop unroll(full)
        for (int t = 0; t < ROWS; t++) {
          v128_t one = wasm_v128_load(a + t * width + i);
          s[t][0] = dot(w0, one, s[t][0]);
          s[t][1] = dot(w1, one, s[t][1]);
          s[t][2] = dot(w2, one, s[t][2]);
          s[t][3] = dot(w3, one, s[t][3]);
        }
      }
      v128_t sums = wasm_v128_load(own->sum + c), scale = wasm_v128_load(own->scale + c), bias = wasm_v128_load(own->bias + c);
      for (int t = 0; t < ROWS; t++) {
        v128_t total = wasm_i32x4_sub(wasm_i32x4_make(add4(s[t][0]), add4(s[t][1]), add4(s[t][2]), add4(s[t][3])), sums);
        v128_t value = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(total), wasm_f32x4_mul(scale, wasm_f32x4_splat(factor[r + t])));
        wasm_v128_store(out + (r + t) * n + c, wasm_f32x4_add(value, bias));
      }
    }
  }
}

#ifdef PLAIN
#define fused(a, b, c) wasm_f32x4_add(wasm_f32x4_mul(a, b), c)
#else
#define fused(a, b, c) __builtin_wasm_relaxed_madd_f32x4(a, b, c)
#endif

// Mixes the values of one head, four tokens at a time; results go to y.
static void attend(int count, int head) {
  const float by = 0.17677669f; // 1 / √32
  int columns = (count + 3) & ~3;
  for (int d = 0; d < HEAD; d++)
    for (int t = 0; t < columns; t++) kt[d * MAX_TOKENS + t] = t < count ? k[t * SIZE + head * HEAD + d] * by : 0;
  for (int t = 0; t < columns; t += 4) {
    const float *own = q + t * SIZE + head * HEAD;
    for (int c = 0; c < columns; c += 4) {
      v128_t s0 = wasm_f32x4_splat(0), s1 = s0, s2 = s0, s3 = s0;
      for (int d = 0; d < HEAD; d++) {
        v128_t other = wasm_v128_load(kt + d * MAX_TOKENS + c);
        s0 = fused(wasm_v128_load32_splat(own + d), other, s0);
        s1 = fused(wasm_v128_load32_splat(own + SIZE + d), other, s1);
        s2 = fused(wasm_v128_load32_splat(own + 2 * SIZE + d), other, s2);
        s3 = fused(wasm_v128_load32_splat(own + 3 * SIZE + d), other, s3);
      }
      wasm_v128_store(weights_of + c, s0);
      wasm_v128_store(weights_of + MAX_TOKENS + c, s1);
      wasm_v128_store(weights_of + 2 * MAX_TOKENS + c, s2);
      wasm_v128_store(weights_of + 3 * MAX_TOKENS + c, s3);
    }
    float shares[4];
    for (int r = 0; r < 4; r++) {
      float *row = weights_of + r * MAX_TOKENS;
      for (int c = count; c < columns; c++) row[c] = -1e30f;
      v128_t most = wasm_v128_load(row);
      for (int c = 4; c < columns; c += 4) most = wasm_f32x4_pmax(most, wasm_v128_load(row + c));
      most = wasm_f32x4_pmax(most, wasm_i32x4_shuffle(most, most, 2, 3, 0, 1));
      most = wasm_f32x4_pmax(most, wasm_i32x4_shuffle(most, most, 1, 0, 3, 2));
      v128_t total = wasm_f32x4_splat(0);
      for (int c = 0; c < columns; c += 4) {
        v128_t e = exp4(wasm_f32x4_sub(wasm_v128_load(row + c), most));
        wasm_v128_store(row + c, e);
        total = wasm_f32x4_add(total, e);
      }
      shares[r] = 1.f / sum4(total);
    }
    for (int d = 0; d < HEAD; d += 8) {
      v128_t m[4][2];
      for (int r = 0; r < 4; r++) m[r][0] = m[r][1] = wasm_f32x4_splat(0);
      for (int c = 0; c < count; c++) {
        const float *other = v + c * SIZE + head * HEAD + d;
        v128_t low = wasm_v128_load(other), high = wasm_v128_load(other + 4);
#pragma clang loop unroll(full)
        for (int r = 0; r < 4; r++) {
          v128_t weight = wasm_v128_load32_splat(weights_of + r * MAX_TOKENS + c);
          m[r][0] = fused(weight, low, m[r][0]);
          m[r][1] = fused(weight, high, m[r][1]);
        }
      }
      for (int r = 0; r < 4; r++) {
        v128_t share = wasm_f32x4_splat(shares[r]);
        float *mixed = y + (t + r) * SIZE + head * HEAD + d;
        wasm_v128_store(mixed, wasm_f32x4_mul(m[r][0], share));
        wasm_v128_store(mixed + 4, wasm_f32x4_mul(m[r][1], share));
      }
    }
  }
}

static void add_and_normalize(int count, const float *own) {
  for (int t = 0; t < count; t++) {
    for (int i = 0; i < SIZE; i += 4)
      wasm_v128_store(x + t * SIZE + i, wasm_f32x4_add(wasm_v128_load(x + t * SIZE + i), wasm_v128_load(q + t * SIZE + i)));
    normalize(x + t * SIZE, own);
  }
}

// The score of `count` tokens, of which the first `asked` are the question with its marks.
__attribute__((export_name("read"))) float read_pair(int count, int asked) {
  for (int t = 0; t < count; t++) {
    float by = word_scale[ids[t]];
    const int8_t *word = words + ids[t] * SIZE;
    const float *place = positions + t * SIZE, *type = types + (t < asked ? 0 : SIZE);
    for (int i = 0; i < SIZE; i++) x[t * SIZE + i] = word[i] * by + place[i] + type[i];
    normalize(x + t * SIZE, norm);
  }
  for (int l = 0; l < layer_count; l++) {
    const Layer *own = layers + l;
    quantize(x, count, SIZE);
    multiply(&own->query, count, SIZE, SIZE, q);
    multiply(&own->key, count, SIZE, SIZE, k);
    multiply(&own->value, count, SIZE, SIZE, v);
    for (int h = 0; h < HEADS; h++) attend(count, h);
    quantize(y, count, SIZE);
    multiply(&own->out, count, SIZE, SIZE, q);
    add_and_normalize(count, own->norm1);
    quantize(x, count, SIZE);
    multiply(&own->up, count, INNER, SIZE, y);
    for (int i = 0; i < count * INNER; i += 4) wasm_v128_store(y + i, gelu4(wasm_v128_load(y + i)));
    quantize(y, count, INNER);
    multiply(&own->down, count, SIZE, INNER, q);
    add_and_normalize(count, own->norm2);
  }
  for (int t = 0; t < count; t++) {
    v128_t sum = wasm_f32x4_splat(0);
    for (int i = 0; i < SIZE; i += 4) sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_v128_load(x + t * SIZE + i), wasm_v128_load(x + t * SIZE + i)));
    weights_of[t] = 1.f / __builtin_sqrtf(sum4(sum) + 1e-24f);
  }
  float matched = 0;
  for (int t = 1; t < asked - 1; t++) {
    float best = -1;
    for (int c = asked; c < count - 1; c++) {
      v128_t sum = wasm_f32x4_splat(0);
      for (int i = 0; i < SIZE; i += 4) sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_v128_load(x + t * SIZE + i), wasm_v128_load(x + c * SIZE + i)));
      float cosine = sum4(sum) * weights_of[t] * weights_of[c];
      if (cosine > best) best = cosine;
    }
    matched += best;
  }
  v128_t first = wasm_f32x4_splat(0);
  for (int i = 0; i < SIZE; i += 4) first = wasm_f32x4_add(first, wasm_f32x4_mul(wasm_v128_load(x + i), wasm_v128_load(score + i)));
  return sum4(first) + score[SIZE] + score[SIZE + 1] * matched / (asked > 2 ? asked - 2 : 1);
}
