import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTarget } from "../../../../src/server/gateway/door/admit.ts";

test.each([
  ["/v1/messages", "/v1/messages", ""],
  ["/v1/messages?beta=true", "/v1/messages", "?beta=true"],
  ["/v1/models/a%20b", "/v1/models/a%20b", ""],
  ["/v1/models?x=/../&y=//", "/v1/models", "?x=/../&y=//"],
  ["/api/v1/sessions/a%2Fb", "/api/v1/sessions/a%2Fb", ""],
  ["/api/v1/sessions/%40Jo%2520Ann%2Fb", "/api/v1/sessions/%40Jo%2520Ann%2Fb", ""],
  ["/api/v1/jobs/%40Jo%2520Ann%2Fb", "/api/v1/jobs/%40Jo%2520Ann%2Fb", ""],
])("the target %s is split into path and query", (target, path, query) => {
  expect(parseTarget(target)).toEqual({ path, query });
});

test.each([
  "",
  "*",
  "v1/messages",
  "http://127.0.0.1:4747/v1/messages",
  "//evil.example/v1/messages",
  "/v1//messages",
  "/v1/../messages",
  "/v1/./messages",
  "/..",
  "/v1/%2e%2e/messages",
  "/v1/%2E./messages",
  "/v1%2fmessages",
  "/v1%5cmessages",
  "/v1\\messages",
  "/v1/%252e%252e/x",
  "/v1/%00",
  "/v1/%0d%0ahost:x",
  "/v1/%",
  "/v1/%zz",
  "/v1/messages#x",
  "/v1/mess ages",
  "/v1/m\u00e9ssages",
])("the target %j is refused", (target) => {
  expect(parseTarget(target)).toMatchObject({ fault: { status: 400 } });
});

test("a target that is too long gets a 414", () => {
  expect(parseTarget(`/v1/models/${"a".repeat(5_000)}`)).toMatchObject({ fault: { status: 414 } });
});

test("an accepted target means the same path to everyone who decodes it", () => {
  const piece = fc.constantFrom(
    "v1",
    "messages",
    "..",
    ".",
    "%2e",
    "%2E%2e",
    "%2f",
    "%5C",
    "\\",
    "%25",
    "a",
    "%20",
    "",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const target = `/${pieces.join("/")}`;
      const read = parseTarget(target);
      if ("fault" in read) return;
      const decoded = decodeURIComponent(read.path);
      expect(decoded.split(/[\\/]/)).not.toContain("..");
      expect(new URL(decoded.replaceAll(" ", "%20"), "http://x").pathname).toBe(read.path);
    }),
  );
});
