import { describe, expect, test } from "vitest";
import { isLogWhole, isPreviousMissing } from "../../../../src/server/gateway/request/chain.ts";

const failure = (status: number, error: object) => ({ status, body: JSON.stringify({ error }) });

describe("a refusal because of a missing response", () => {
  test.each([
    [
      "expired, or of another account",
      failure(400, {
        message: "Previous response with id 'resp_1' not found.",
        type: "invalid_request_error",
        param: "previous_response_id",
        code: "previous_response_not_found",
      }),
    ],
    ["in the words of vLLM", failure(404, { message: "Response with id 'resp_1' not found.", code: 404 })],
    [
      "where nothing may be kept",
      failure(400, {
        message: "Previous response cannot be used for this organization due to Zero Data Retention.",
        code: "unsupported_parameter",
      }),
    ],
    ["where it is not implemented", failure(501, { message: "'previous_response_id' is not supported." })],
    [
      "with calls that the client has not seen",
      failure(400, { message: "No tool output found for function call call_1.", param: "input" }),
    ],
    [
      "inside a stream",
      { body: { type: "error", message: "Previous response with id 'resp_1' not found.", code: "x" } },
    ],
  ])("a refusal says that the named response is missing: %s", (_, refusal) => {
    expect(isPreviousMissing(refusal)).toBe(true);
  });

  test.each([
    ["a rate", failure(429, { message: "Rate limit reached; previous_response_id resp_1." })],
    ["a missing model", failure(404, { message: "The model 'gpt-9' does not exist." })],
    ["a wrong key", failure(401, { message: "Incorrect API key provided." })],
    ["a wrong address", { status: 404, body: "404 page not found" }],
    ["its own trouble", failure(500, { message: "previous response could not be loaded" })],
  ])("a refusal for another reason does not say that a response is missing: %s", (_, refusal) => {
    expect(isPreviousMissing(refusal)).toBe(false);
  });
});

describe("a complete log", () => {
  test("the log holds the whole conversation unless the provider counted far more tokens or none", () => {
    expect(isLogWhole(10_000, 11_000)).toBe(true);
    expect(isLogWhole(10, 3_000)).toBe(true);
    expect(isLogWhole(10_000, 60_000)).toBe(false);
    expect(isLogWhole(10_000, undefined)).toBe(false);
  });
});
