/** Strings, comments and commas before a closing bracket, in one pass, so that none is found inside another. */
const TOKEN =
  /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*[}\]])/g;

/** Parses JSON that may have comments and trailing commas; throws SyntaxError with the place in the original text. */
export function parseCommentedJson(text: string): unknown {
  // Blanks keep every position the same, so that error messages name the right place.
  const plain = text
    .replace(/^\uFEFF/, "")
    .replace(TOKEN, (token) => (token.startsWith('"') ? token : token.replace(/[^\n]/g, " ")));
  return JSON.parse(plain);
}
