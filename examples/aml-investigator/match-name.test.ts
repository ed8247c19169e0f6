import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchNames, prepareName } from "./match-name.ts";
import { hitThreshold, listSize, screenName } from "./screening.ts";

const score = (a: string, b: string) => matchNames(prepareName(a), prepareName(b)).score;

describe("matchNames", () => {
  it.each([
    ["Jürgen Grünhäuser", "Juergen Gruenhaeuser", "umlauts written out"],
    ["Jürgen Grünhäuser", "Jurgen Grunhauser", "umlauts dropped"],
    ["Łucja Żółwiński", "Lucja Zolwinski", "Polish letters"],
    ["Özgür Şahinkökü", "Ozgur Sahinkoku", "Turkish letters"],
    ["Захар Щедролюбов", "Zakhar Shchedrolyubov", "Cyrillic, English scheme"],
    ["Аркадий Жемчуганов", "Arkadij Schemtschuganow", "Cyrillic, German scheme"],
    ["طارق الزرهوني", "Tariq al-Zarhouni", "Arabic against Latin"],
    ["طارق الزرهوني", "Tarek Zarhuni", "Arabic against another spelling"],
    ["骆霁岚", "Luo Jilan", "Chinese against Latin"],
    ["駱霽嵐", "骆霁岚", "traditional against simplified"],
    ["Luo Ji-Lan", "Luo Jilan", "given name divided"],
    ["GRÜNHÄUSER, Jürgen", "Jürgen Grünhäuser", "family name first"],
    ["Viktor Anatolyevich Zoryavin", "Viktor Zoryavin", "father's name added"],
    ["Orvane Meridian Shiping", "Orvane Meridian Shipping FZE", "misspelt, without its legal form"],
  ])("takes %s and %s for the same (%s)", (a, b) => {
    expect(score(a, b)).toBeGreaterThanOrEqual(hitThreshold);
  });

  it.each([
    ["Viktor", "Viktor Zoryavin", "a first name alone"],
    ["Viktor Zaharov", "Viktor Zoryavin", "a shared first name"],
    ["Rashid Mansour", "Rashid al-Qadmouri", "a shared Arabic first name"],
    ["نزار قباني", "نزار الشبراني", "a shared first name in Arabic letters"],
    ["Walid Khaldi", "Waleed Khalduri", "a shorter, different family name"],
    ["Meridian Shipping", "Orvane Meridian Shipping FZE", "a common part of a company's name"],
    ["Yan Zi", "Yan Ziji", "half a Chinese given name"],
  ])("keeps %s and %s apart (%s)", (a, b) => {
    expect(score(a, b)).toBeLessThan(hitThreshold);
  });

  it("gives the same score in both directions, between 0 and 100, and 100 to a name and itself", () => {
    const letters = fc.constantFrom("a", "e", "k", "sch", "ü", "ж", "я", "ن", "ق", "骆", "岚", " ", "-", "'");
    const name = fc.array(letters, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(name, name, (a, b) => {
        const there = score(a, b);
        expect(there).toBe(score(b, a));
        expect(there).toBeGreaterThanOrEqual(0);
        expect(there).toBeLessThanOrEqual(100);
        if (prepareName(a).tokens.length > 0) expect(score(a, a)).toBe(100);
      }),
    );
  });
});

describe("screenName", () => {
  it("explains a hit by the spelling that matched", () => {
    expect(screenName("ZARHUNI TAREQ")).toEqual({
      counterparty: "ZARHUNI TAREQ",
      listId: "S-0065",
      listedName: "Tariq al-Zarhouni",
      matchedName: "Tarek Zarhuni",
      program: "TARSIS-1",
      listedOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      score: 99,
      explanation: '"tareq" and "tarek" sound alike; the parts of the name stand in another order',
    });
  });

  it("shows the listed spelling in the script that was asked for", () => {
    expect(screenName("طارق الزرهوني")?.matchedName).toBe("طارق الزرهوني");
  });

  it("finds nobody among common names", () => {
    const common =
      "Michael Schmidt,Anna Müller,Jürgen Müller,Li Wei,Wang Wei,王伟,张伟,Ahmed Hassan,أحمد حسن,محمد علي,طارق حسن,Mohammed Ali," +
      "Tariq Aziz,Ivan Petrov,Иван Петров,Viktor Zaharov,Björn Hansen,André Dubois,Polar Capital Ltd,Falcon Logistics GmbH";
    expect(listSize).toBeGreaterThan(300);
    expect(common.split(",").filter((name) => screenName(name) !== null)).toEqual([]);
  });
});
