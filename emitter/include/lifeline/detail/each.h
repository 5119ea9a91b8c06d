/* LL_EACH(macro, (a), (b), LL_NO_MORE) expands to macro(a) macro(b): at most 32 lists, and a closing argument, since C
 * cannot count zero arguments. For 33 to 64 lists it expands to nothing, and LL_COUNT_ to LL_TOO_MANY, which an
 * assertion can report. */
#ifndef LIFELINE_DETAIL_EACH_H
#define LIFELINE_DETAIL_EACH_H

#define LL_STRIP_(...) __VA_ARGS__
#define LL_PASTE_(a, b) LL_PASTE_NOW_(a, b)
#define LL_PASTE_NOW_(a, b) a##b

#define LL_EACH(macro, ...) LL_PASTE_(LL_EACH_, LL_COUNT_(__VA_ARGS__))(macro, __VA_ARGS__)

#define LL_COUNT_(...)                                                                                                 \
  LL_COUNTED_(__VA_ARGS__, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY,  \
              LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY,  \
              LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY,  \
              LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY, LL_TOO_MANY,  \
              LL_TOO_MANY, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, \
              9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define LL_COUNTED_(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,     \
                    a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39,     \
                    a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58,     \
                    a59, a60, a61, a62, a63, a64, count, ...)                                                          \
  count

#define LL_EACH_LL_TOO_MANY(macro, ...)
#define LL_EACH_0(macro, last)
#define LL_EACH_1(macro, list, ...) macro list LL_EACH_0(macro, __VA_ARGS__)
#define LL_EACH_2(macro, list, ...) macro list LL_EACH_1(macro, __VA_ARGS__)
#define LL_EACH_3(macro, list, ...) macro list LL_EACH_2(macro, __VA_ARGS__)
#define LL_EACH_4(macro, list, ...) macro list LL_EACH_3(macro, __VA_ARGS__)
#define LL_EACH_5(macro, list, ...) macro list LL_EACH_4(macro, __VA_ARGS__)
#define LL_EACH_6(macro, list, ...) macro list LL_EACH_5(macro, __VA_ARGS__)
#define LL_EACH_7(macro, list, ...) macro list LL_EACH_6(macro, __VA_ARGS__)
#define LL_EACH_8(macro, list, ...) macro list LL_EACH_7(macro, __VA_ARGS__)
#define LL_EACH_9(macro, list, ...) macro list LL_EACH_8(macro, __VA_ARGS__)
#define LL_EACH_10(macro, list, ...) macro list LL_EACH_9(macro, __VA_ARGS__)
#define LL_EACH_11(macro, list, ...) macro list LL_EACH_10(macro, __VA_ARGS__)
#define LL_EACH_12(macro, list, ...) macro list LL_EACH_11(macro, __VA_ARGS__)
#define LL_EACH_13(macro, list, ...) macro list LL_EACH_12(macro, __VA_ARGS__)
#define LL_EACH_14(macro, list, ...) macro list LL_EACH_13(macro, __VA_ARGS__)
#define LL_EACH_15(macro, list, ...) macro list LL_EACH_14(macro, __VA_ARGS__)
#define LL_EACH_16(macro, list, ...) macro list LL_EACH_15(macro, __VA_ARGS__)
#define LL_EACH_17(macro, list, ...) macro list LL_EACH_16(macro, __VA_ARGS__)
#define LL_EACH_18(macro, list, ...) macro list LL_EACH_17(macro, __VA_ARGS__)
#define LL_EACH_19(macro, list, ...) macro list LL_EACH_18(macro, __VA_ARGS__)
#define LL_EACH_20(macro, list, ...) macro list LL_EACH_19(macro, __VA_ARGS__)
#define LL_EACH_21(macro, list, ...) macro list LL_EACH_20(macro, __VA_ARGS__)
#define LL_EACH_22(macro, list, ...) macro list LL_EACH_21(macro, __VA_ARGS__)
#define LL_EACH_23(macro, list, ...) macro list LL_EACH_22(macro, __VA_ARGS__)
#define LL_EACH_24(macro, list, ...) macro list LL_EACH_23(macro, __VA_ARGS__)
#define LL_EACH_25(macro, list, ...) macro list LL_EACH_24(macro, __VA_ARGS__)
#define LL_EACH_26(macro, list, ...) macro list LL_EACH_25(macro, __VA_ARGS__)
#define LL_EACH_27(macro, list, ...) macro list LL_EACH_26(macro, __VA_ARGS__)
#define LL_EACH_28(macro, list, ...) macro list LL_EACH_27(macro, __VA_ARGS__)
#define LL_EACH_29(macro, list, ...) macro list LL_EACH_28(macro, __VA_ARGS__)
#define LL_EACH_30(macro, list, ...) macro list LL_EACH_29(macro, __VA_ARGS__)
#define LL_EACH_31(macro, list, ...) macro list LL_EACH_30(macro, __VA_ARGS__)
#define LL_EACH_32(macro, list, ...) macro list LL_EACH_31(macro, __VA_ARGS__)

#endif
