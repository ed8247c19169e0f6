// Other scripts to Latin letters, for comparing names only. Small tables on purpose: they cover the letters
// of Russian and Ukrainian, the consonants of Arabic and Persian, and the characters usual in Chinese names.
// A bank would put ICU or a vendor's engine here; the matching around it stays the same.

const cyrillic = pairs(
  "а=a б=b в=v г=g ґ=g д=d е=e ё=yo є=ye ж=zh з=z и=i і=i ї=yi й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f " +
    "х=kh ц=ts ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya ђ=dj ј=j љ=lj њ=nj ћ=c џ=dz",
);

// Short vowels are not written in Arabic: what comes out has to be compared by consonants.
const arabic = pairs(
  "ا=a أ=a إ=i آ=a ٱ=a ب=b پ=p ت=t ث=th ج=j چ=ch ح=h خ=kh د=d ذ=dh ر=r ز=z ژ=zh س=s ش=sh ص=s ض=d ط=t ظ=z ع= غ=gh " +
    "ف=f ق=q ك=k ک=k گ=g ل=l م=m ن=n ه=h ة=a و=w ؤ=w ي=y ی=y ى=a ئ=y ء= ـ=",
);

const han = pairs(
  "安=an 白=bai 柏=bai 岑=cen 陈=chen 陳=chen 晨=chen 辰=chen 澄=cheng 楚=chu 丹=dan 德=de 东=dong 東=dong 芳=fang 峰=feng " +
    "凤=feng 鳳=feng 冈=gang 岗=gang 桂=gui 国=guo 國=guo 海=hai 涵=han 浩=hao 恒=heng 衡=heng 弘=hong 红=hong 鸿=hong 鴻=hong " +
    "华=hua 華=hua 慧=hui 霁=ji 霽=ji 嘉=jia 建=jian 剑=jian 劍=jian 江=jiang 洁=jie 金=jin 锦=jin 錦=jin 静=jing 靜=jing 军=jun " +
    "君=jun 凯=kai 兰=lan 蓝=lan 藍=lan 岚=lan 嵐=lan 磊=lei 黎=li 李=li 丽=li 麗=li 莲=lian 蓮=lian 林=lin 琳=lin 麟=lin 玲=ling " +
    "凌=ling 刘=liu 劉=liu 龙=long 龍=long 芦=lu 陆=lu 陸=lu 洛=luo 骆=luo 駱=luo 梅=mei 美=mei 明=ming 鸣=ming 鳴=ming 牧=mu " +
    "宁=ning 寧=ning 鹏=peng 鵬=peng 平=ping 琪=qi 祺=qi 强=qiang 乔=qiao 喬=qiao 青=qing 清=qing 秋=qiu 泉=quan 然=ran 荣=rong " +
    "榮=rong 瑞=rui 睿=rui 若=ruo 森=sen 山=shan 尚=shang 邵=shao 诗=shi 詩=shi 石=shi 舒=shu 松=song 苏=su 蘇=su 穗=sui 唐=tang " +
    "涛=tao 濤=tao 天=tian 廷=ting 王=wang 望=wang 威=wei 伟=wei 偉=wei 薇=wei 温=wen 文=wen 雯=wen 夏=xia 晓=xiao 曉=xiao 欣=xin " +
    "鑫=xin 雪=xue 燕=yan 颜=yan 顏=yan 阳=yang 陽=yang 杨=yang 楊=yang 瑶=yao 瑤=yao 叶=ye 葉=ye 易=yi 逸=yi 英=ying 永=yong " +
    "勇=yong 宇=yu 雨=yu 玉=yu 元=yuan 远=yuan 遠=yuan 月=yue 岳=yue 云=yun 雲=yun 泽=ze 澤=ze 张=zhang 張=zhang 赵=zhao 趙=zhao " +
    "哲=zhe 珍=zhen 震=zhen 郑=zheng 鄭=zheng 志=zhi 智=zhi 忠=zhong 舟=zhou 周=zhou 竹=zhu 卓=zhuo 子=zi 紫=zi 宗=zong",
);

// Latin letters that Unicode does not take apart into a letter and a mark.
const latin = pairs("ß=ss æ=ae œ=oe ø=o ł=l đ=d ð=d þ=th ı=i ħ=h ŋ=n ə=a");

export type Script = "latin" | "cyrillic" | "arabic" | "han";

/** Lower-case Latin text of `text`; marks removed, the Chinese family name set apart from the given name. */
export function toLatin(text: string): string {
  const spaced = text.replace(/(\p{Script=Han})(\p{Script=Han}+)/gu, " $1 $2 ");
  const letters = Array.from(spaced.normalize("NFKC").toLowerCase(), romanise);
  return letters.join("").normalize("NFKD").replace(/\p{M}/gu, "");
}

/** The script of a name; mixed text counts as its first non-Latin one. */
export function scriptOf(text: string): Script {
  if (/\p{Script=Cyrillic}/u.test(text)) return "cyrillic";
  if (/\p{Script=Arabic}/u.test(text)) return "arabic";
  return /\p{Script=Han}/u.test(text) ? "han" : "latin";
}

function romanise(letter: string): string {
  return cyrillic.get(letter) ?? arabic.get(letter) ?? han.get(letter) ?? latin.get(letter) ?? letter;
}

function pairs(table: string): Map<string, string> {
  return new Map(
    table.split(" ").map((entry): [string, string] => {
      const at = entry.indexOf("=");
      return [entry.slice(0, at).normalize("NFKC"), entry.slice(at + 1)];
    }),
  );
}
