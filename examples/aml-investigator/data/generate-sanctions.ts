// The invented sanctions list: names from made-up family names, with the spellings that real lists carry:
// the original script, and transliterations by more than one scheme.
import { random } from "./random.ts";

/** One row: id, kind, name, aliases, programme, listed on, year of birth or foundation. */
type Row = [string, "person" | "entity", string, string[], string, string, number];

export function makeSanctions(): { listVersion: string; rows: Row[] } {
  const chance = random(20260930);
  const dated = (drafts: [string, string[]][], kind: "person" | "entity", programme: string): Row[] =>
    drafts.map(([name, aliases]) => {
      const listedOn = `${chance.int(2011, 2025)}-0${chance.int(1, 9)}-${chance.int(10, 28)}`;
      const year = kind === "person" ? chance.int(1944, 1991) : chance.int(1989, 2021);
      return ["", kind, name, aliases, programme, listedOn, year];
    });
  const rows = [
    ...dated(cyrillicNames(), "person", "QARZAN-2"),
    ...dated(arabicNames(), "person", "TARSIS-1"),
    ...dated(chineseNames(), "person", "PROLIF-4"),
    ...dated(europeanNames(), "person", "VELMORA-3"),
    ...dated(companies(), "entity", "QARZAN-2"),
  ];
  const numbered = rows.map(([, ...rest], i): Row => [`S-${String(i + 1).padStart(4, "0")}`, ...rest]);
  return { listVersion: "2026-09-30 (fictional)", rows: numbered };
}

// Each part: original, English scheme, other scheme.
type Part = [string, string, string];

function parts(table: string): Part[] {
  return table.split(" ").map((entry): Part => {
    const [original = "", english = "", other = english] = entry.split("/");
    return [original, english, other];
  });
}

function cyrillicNames(): [string, string[]][] {
  const given = parts(
    "Виктор/Viktor/Wiktor Аркадий/Arkady/Arkadij Ярослав/Yaroslav/Jaroslaw Тихон/Tikhon/Tichon Евгений/Yevgeny/Jewgenij " +
      "Всеволод/Vsevolod/Wsewolod Юлиан/Yulian/Julian Захар/Zakhar/Sachar",
  );
  const family = parts(
    "Зорявин/Zoryavin/Sorjawin Кренделов/Krendelov/Krendelow Ветрожилов/Vetrozhilov/Wetroschilow " +
      "Чернобрыжский/Chernobryzhsky/Tschernobryschskij Щедролюбов/Shchedrolyubov/Schtschedroljubow Полозуев/Polozuev/Polosujew " +
      "Хмарецкий/Khmaretsky/Chmarezkij Жемчуганов/Zhemchuganov/Schemtschuganow",
  );
  return pairUp(given, family, (g, f) => [`${g[1]} ${f[1]}`, [`${g[0]} ${f[0]}`, `${g[2]} ${f[2]}`]]);
}

function arabicNames(): [string, string[]][] {
  const given = parts(
    "طارق/Tariq/Tarek نزار/Nizar/Nezar غسان/Ghassan/Gassan فوزي/Fawzi/Faouzi بدر/Badr/Bader منصور/Mansour/Mansur وليد/Walid/Waleed رشيد/Rashid/Rachid",
  );
  const family = parts(
    "الزرهوني/al-Zarhouni/Zarhuni القدموري/al-Qadmouri/Kadmuri الشبراني/al-Shabrani/Chebrani الخلدوري/al-Khaldouri/Khalduri " +
      "المرجفي/al-Marjafi/Mardjafi الطنباري/al-Tanbari/Tunbari الحصروني/al-Hasrouni/Hasruni السردابي/al-Sardabi/Serdabi",
  );
  return pairUp(given, family, (g, f) => [`${g[1]} ${f[1]}`, [`${g[0]} ${f[0]}`, `${g[2]} ${f[2]}`]]);
}

function chineseNames(): [string, string[]][] {
  const family = parts(
    "骆/Luo/Lo 岑/Cen/Ts'en 颜/Yan/Yen 柏/Bai/Pai 卓/Zhuo/Cho 楚/Chu/Ch'u 温/Wen/Wen 尚/Shang/Shang",
  );
  const given = parts(
    "霁岚/Jilan/Chi-lan 牧衡/Muheng/Mu-heng 澄舟/Chengzhou/Ch'eng-chou 若穗/Ruosui/Jo-sui " +
      "竹冈/Zhugang/Chu-kang 泽麟/Zelin/Tse-lin 紫霁/Ziji/Tzu-chi 恒泉/Hengquan/Heng-ch'uan",
  );
  return pairUp(family, given, (f, g) => [`${f[1]} ${g[1]}`, [`${f[0]}${g[0]}`, `${f[2]} ${g[2]}`]]);
}

function europeanNames(): [string, string[]][] {
  const given = parts(
    "Jürgen/Juergen Björn/Bjoern Günther/Guenther Zoë/Zoe Özgür/Oezguer Søren/Soeren Łucja/Lucja André/Andre",
  );
  const family = parts(
    "Grünhäuser/Gruenhaeuser Dörrenbüchel/Doerrenbuechel Kjærsgold/Kjaersgold Żółwiński/Zolwinski Şahinkökü/Sahinkoekue " +
      "Mühlbrächter/Muehlbraechter Ångvall/Aangvall Crèvecour/Crevecour",
  );
  return pairUp(given, family, (g, f) => [`${g[0]} ${f[0]}`, [`${g[1]} ${f[1]}`]]);
}

function companies(): [string, string[]][] {
  const first = parts(
    "Orvane/Orvan Keldara/Celdara Tarsivo/Tarsiwo Zephyrin/Zefirin Mirovex/Mirowex Qasrent/Kasrent Velsund/Welsund Dromika/Dromica",
  );
  const second = parts(
    "Meridian/Meridien Cobalt/Kobalt Horizon/Horisont Falcon/Falken Granite/Granit Harbour/Harbor Polar/Polaris Saffron/Safran",
  );
  const business = ["Shipping FZE", "Minerals LLC", "Trading Co", "Logistics GmbH", "Capital Ltd"];
  return pairUp(first, second, (a, b, i) => [
    `${a[0]} ${b[0]} ${business[i % 5]}`,
    [`${a[1]} ${b[1]} ${business[i % 5]}`],
  ]);
}

function pairUp<T>(left: Part[], right: Part[], make: (left: Part, right: Part, i: number) => T): T[] {
  return left.flatMap((a, i) => right.map((b, j) => make(a, b, i * right.length + j)));
}
