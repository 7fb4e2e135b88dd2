import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactSecrets } from "../../../../src/model/secrets/redact-secrets.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { BARE, NAMED } from "./secrets.ts";

describe("a secret with a known form", () => {
  test.each(BARE)("a secret of kind %s is redacted wherever it stands", (kind, secret) => {
    for (const [before, after] of [
      ["", ""],
      ["key ", " end"],
      ['{"a":"', '"}'],
      ["(", ")"],
      ["A=", "\nB=1"],
      ["x,", ",y"],
      ["\\n", "\\n"],
    ]) {
      const { text, found } = redactSecrets(`${before}${secret}${after}`);
      expect(text).toBe(`${before}[redacted:${kind}]${after}`);
      expect(found).toEqual([kind]);
    }
  });
});

describe("a secret with a known context", () => {
  test.each(NAMED)("a secret of kind %s is redacted from its context: %s", (kind, before, secret, after) => {
    expect(redactSecrets(`${before}${secret}${after}`)).toEqual({
      text: `${before}[redacted:${kind}]${after}`,
      found: [kind],
    });
  });
});

test("more than 45 kinds of secrets are known", () => {
  expect(new Set([...BARE, ...NAMED].map(([kind]) => kind)).size).toBeGreaterThan(45);
});

test("a private key whose end was cut off is redacted as far as it goes", () => {
  const begin = ["-----BEGIN ", "PRIVATE KEY-----"].join("");
  const { text } = redactSecrets(`${begin}\n${"MIIEvQIB".repeat(8)}\n${"ADANBgkq".repeat(8)}\n[cut]`);
  expect(text).toBe("[redacted:private-key]\n[cut]");
});

describe("texts that are not secrets", () => {
  test.each([
    ["a commit", "commit 3f9a0c7be1d2468b3f9a0c7be1d2468b3f9a0c7b"],
    ["a digest", `sha256:${"3f9a0c7be1d2468b".repeat(4)}`],
    ["a uuid", "id 5a07c878-e5bd-45cb-84d0-259470ea3f46"],
    ["an integrity hash", `"integrity": "sha512-${"aB3/".repeat(21)}ab=="`],
    ["a picture", `data:image/png;base64,iVBORw0KGgo${"Ab3dEf6h".repeat(100)}==`],
    ["a count of tokens", '"max_tokens": 8192, "input_tokens": 123456, MAX_TOKENS=200000'],
    ["a type", "password: string; token?: string | undefined; apiKey: Promise<string>"],
    ["a reference", "API_KEY=$API_KEY TOKEN=$" + "{TOKEN} SECRET=$(cat secret)"],
    ["code", "const token = await getToken(request); password = hash(password)"],
    ["a lookup", "api_key=os.environ['OPENAI_API_KEY'], secret: process.env.SECRET_KEY_BASE2"],
    ["a placeholder", "API_KEY=your-api-key-here-1234 OPENAI_API_KEY=<your key> SECRET=xxxxxxxxxxxx1"],
    ["a label", '"password": "Please enter your password", "tokenLabel": "Your token 12"'],
    ["a path", "PRIVATE_KEY=/etc/ssl/private/key1.pem TOKEN=./secrets/token2.txt"],
    [
      "an address",
      "TOKEN_URL=https://login.example.com/oauth2/v2.0/token SECRET=https://x.example/1a2b3c4d5e",
    ],
    ["a page of a list", '"nextPageToken": "CAUQAA1a2b3c4d5e6f7g8h"'],
    [
      "a class of a style sheet",
      ".sk-fading-circle .sk-circle-dot-12 { sk-estimator-doc-link-container-id-1 }",
    ],
    ["a port", "http://localhost:8080/a@b and ssh://git@github.com:22/a/b"],
    ["a user of a container", "docker run -u 1000:1000 image"],
    [
      "a constant that begins a key",
      'if (text.startsWith("-----BEGIN PRIVATE KEY-----") && text.endsWith("-----END PRIVATE KEY-----"))',
    ],
    ["a certificate", `-----BEGIN CERTIFICATE-----\n${"MIIDdzCC".repeat(8)}\n-----END CERTIFICATE-----`],
    ["a public key", `ssh-rsa ${"AAAAB3Nz".repeat(20)} me@example`],
    ["a session id", "x-claude-code-session-id: 5a07c878-e5bd-45cb-84d0-259470ea3f46"],
    ["a tool call's id", "toolu_01A09q90qw90lq917835lq9 call_abc123DEF456ghi789JKL012"],
  ])("a text that is not a secret stays: %s", (_name, text) => {
    expect(redactSecrets(text)).toEqual({ text, found: [] });
  });
});

const secret = fc.constantFrom(
  ...BARE.map(([, text]) => text),
  ...NAMED.map(([, before, text, after]) => before + text + after),
);
const filler = fc.oneof(
  fc.string(),
  fc.constantFrom(
    " ",
    "\n",
    "=",
    ":",
    '"',
    "-",
    "_",
    ".",
    "\\n",
    "password=",
    "token: ",
    "Bearer ",
    "https://",
    "@",
    "eyJ",
    "[redacted:jwt]",
  ),
);

sizedTest("a redacted text does not change when it is redacted again", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(secret, filler), { maxLength: 12 }), (pieces) => {
      const once = redactSecrets(pieces.join("")).text;
      expect(redactSecrets(once)).toEqual({ text: once, found: [] });
    }),
    { numRuns: proofRounds(500) },
  );
});

test("redaction removes the secret and changes nothing else", () => {
  const words = fc.stringMatching(/^(?:[a-z]{1,8} ){0,6}$/);
  fc.assert(
    fc.property(words, fc.constantFrom(...BARE), words, (before, [kind, text], after) => {
      expect(redactSecrets(`${before} ${text} ${after}`).text).toBe(`${before} [redacted:${kind}] ${after}`);
    }),
  );
});

describe("adversarial texts", () => {
  const pieces = [
    ...BARE.map(([, text]) => text.slice(0, Math.ceil(text.length / 2))),
    ...NAMED.map(([, before]) => before),
    "eyJ",
    "eyJa.",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "a",
    "a.",
    "A_",
    "https://a:",
    "https://a",
    "postgres://:",
    "password",
    "password=",
    "password='",
    "--token ",
    "Bearer ",
    "token\t:",
    "ey",
    "M.",
    "\\",
    "cookie: a=",
    " -u a:",
    "sk-",
    "sk-a-",
    "login a password ",
  ];
  const LENGTH = 100_000;

  test("a repeated adversarial piece of 100,000 characters is redacted without a hang", () => {
    for (const piece of new Set(pieces)) {
      const { text } = redactSecrets(piece.repeat(Math.ceil(LENGTH / piece.length)));
      expect(text.length).toBeGreaterThan(0);
    }
  });

  sizedTest("a repeated mix of adversarial pieces is redacted without a hang", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 5 }), (some) => {
        const piece = some.join("");
        expect(redactSecrets(piece.repeat(Math.ceil(LENGTH / piece.length))).text).not.toBe("");
      }),
      { numRuns: proofRounds(20) },
    );
  });
});
