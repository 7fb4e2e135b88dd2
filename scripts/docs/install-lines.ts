/** Whether the package is on the registry. This one word decides what README.md and docs/README.md say about installing. */
const IS_PUBLISHED: boolean = false;

/** Builds the first block of README.md. */
export function buildStartLines(): string {
  return IS_PUBLISHED
    ? `\`\`\`
npx longhaul serve                                # the gateway and its dashboard on http://127.0.0.1:4747
ANTHROPIC_BASE_URL=http://127.0.0.1:4747 claude   # or any other agent; longhaul connect writes it for good
\`\`\``
    : `\`\`\`
npm start                                         # in a clone: the gateway and its dashboard on http://127.0.0.1:4747
ANTHROPIC_BASE_URL=http://127.0.0.1:4747 claude   # or any other agent; longhaul connect writes it for good
\`\`\`

The package is not published yet: \`npm start\` installs and builds what it needs, the right Node included.`;
}

/** Builds the commands of docs/README.md that install the package. */
export function buildInstallLines(): string {
  const name = IS_PUBLISHED ? "longhaul" : "./longhaul-0.1.0.tgz";
  const lines = [
    ...(IS_PUBLISHED ? [] : ["npm run build && npm pack          # in a clone: makes longhaul-0.1.0.tgz"]),
    `npm install --global ${name}`,
    `npm install ${name}     # the library, in your project`,
  ];
  const note = IS_PUBLISHED
    ? "In a clone, `npm start` needs no installation."
    : "The package is not on a registry yet. In a clone, `npm start` and `npm run longhaul -- <command>` need no installation at all.";
  return ["```sh", ...lines, "```", "", note].join("\n");
}
