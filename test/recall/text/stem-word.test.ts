import { expect, test } from "vitest";
import { stemWord } from "../../../src/recall/text/stem-word.ts";

test("the stemmer agrees with Porter2 on its published vocabulary", () => {
  const pairs = `consign consign,consigned consign,consistency consist,consolatory consolatori,knackeries knackeri,
knaves knave,knightly knight,knocking knock,relational relat,conditional condit,hopping hop,hoping hope,ties tie,cries cri,
gas gas,this this,kiwis kiwi,luxuriated luxuri,cry cri,by by,say say,generously generous,communication communic,
proceed proceed,skies sky,dying die,news news,happily happili,rationality ration,argument argument,controlling control,
rolled roll,possibly possibl,national nation,hopefulness hope,goodness good,formative format,adoption adopt`;
  for (const pair of pairs.replaceAll("\n", "").split(",")) {
    const [word = "", expected] = pair.split(" ");
    expect(stemWord(word), word).toBe(expected);
  }
});

test("the stemmer leaves words of other languages unchanged", () => {
  expect(stemWord("2023")).toBe("2023");
  expect(stemWord("straße")).toBe("straße");
});
