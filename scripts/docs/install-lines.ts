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

const NAME = IS_PUBLISHED ? "longhaul" : "./longhaul-0.1.0.tgz";

/** Builds the commands of docs/deploying.md that install the units of systemd. */
export function buildUnitLines(): string {
  return `\`\`\`sh
npm install --global ${NAME} pg
useradd --system --home-dir /var/lib/longhaul longhaul
install -d -m 0750 -g longhaul /etc/longhaul
install -m 0640 -g longhaul deploy/systemd/longhaul.env.example /etc/longhaul/longhaul.env     # then edit it
install -m 0640 -g longhaul deploy/longhaul.example.json /etc/longhaul/longhaul.json
install -m 0644 deploy/systemd/*.service /etc/systemd/system/
systemctl enable --now longhaul-gateway@4747 longhaul-gateway@4748 longhaul-worker@1
\`\`\``;
}

/** Builds the commands of docs/README.md that install the package. */
export function buildInstallLines(): string {
  const lines = [
    ...(IS_PUBLISHED ? [] : ["npm run build && npm pack          # in a clone: makes longhaul-0.1.0.tgz"]),
    `npm install --global ${NAME}`,
    `npm install ${NAME}     # the library, in your project`,
  ];
  const note = IS_PUBLISHED
    ? "In a clone, `npm start` needs no installation."
    : "The package is not on a registry yet. In a clone, `npm start` and `npm run longhaul -- <command>` need no installation at all.";
  return ["```sh", ...lines, "```", "", note].join("\n");
}
