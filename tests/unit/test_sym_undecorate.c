// Undecorated names: a table by hand, the corpus where it is present, and damage.
#include "support/shared_data.h"
#include "sym/undecorate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *decorated, *name;
    } CASES[] = {
        {"?f@@YAXXZ",                                                    "f"                                       },
        {"?f@ns@@YAXXZ",                                                 "ns::f"                                   },
        {"??0Widget@ns@@QEAA@H@Z",                                       "ns::Widget::Widget"                      },
        {"??1Widget@ns@@UEAA@XZ",                                        "ns::Widget::~Widget"                     },
        {"??_GWidget@ns@@UEAAPEAXI@Z",                                   "ns::Widget::`scalar deleting destructor'"},
        {"??_EWidget@ns@@UEAAPEAXI@Z",                                   "ns::Widget::`vector deleting destructor'"},
        {"??_HWidget@@QEAAXXZ",                                          "Widget::`vector constructor iterator'"   },
        {"??BWidget@@QEBAHXZ",                                           "Widget::operator int"                    },
        {"??HWidget@@QEBA?AV0@AEBV0@@Z",                                 "Widget::operator+"                       },
        {"??_U@YAPEAX_K@Z",                                              "operator new[]"                          },
        {"??$max@H@std@@YAAEBHAEBH0@Z",                                  "std::max<int>"                           },
        {"?push_back@?$vector@HV?$allocator@H@std@@@std@@QEAAX$$QEAH@Z",
         "std::vector<int,std::allocator<int> >::push_back"                                                        },
        {"??$emplace@PEAVW@n@@@?$list@PEAVW@n@@@@QEAAX$$QEAPEAVW@n@@@Z",
         "list<n::W *>::emplace<n::W *>"                                                                           },
        {"?f@?A0x12345678@@YAXXZ",                                       "`anonymous namespace'::f"                },
        {"?g@?1??f@@YAXXZ@YAXXZ",                                        "f::__l2::g"                              },
        {"?f@@$$hYAHH@Z",                                                "f"                                       }, // ARM64EC
        {"?f@Widget@@$4PPPPPPPM@A@EAAXXZ",                               "Widget::f"                               },
        {"?f@@YAXXZ$filt$0",                                             "f$filt$0"                                },
        {"??__Eglobal@@YAXXZ",                                           "`dynamic initializer for 'global''"      },
        {"??__FTimer@@YAXXZ",                                            "`dynamic atexit destructor for 'Timer''" },
        {"?f@?$A@$0?0$0BA@@@SAXXZ",                                      "A<-1,16>::f"                             },
        {"?f@?$A@$$V@@SAXXZ",                                            "A<>::f"                                  },
 // Not decorated, or damaged: unchanged.
        {"main",                                                         NULL                                      },
        {"?",                                                            NULL                                      },
        {"?f",                                                           NULL                                      },
        {"?f@",                                                          NULL                                      },
        {"?f@@",                                                         NULL                                      },
        {"?f@@YA",                                                       NULL                                      },
        {"?f@@YAXXZtail",                                                NULL                                      },
        {"?9@@YAXXZ",                                                    NULL                                      },
        {"??@d41d8cd98f00b204e9800998ecf8427e@",                         NULL                                      },
    };
    AUTO(buf_done) Buf out = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        bool good = undecorate(str_from_c(CASES[i].decorated), UNDECORATE_NAME, &out);
        assert_string_equal(out.p, CASES[i].name ? CASES[i].name : CASES[i].decorated);
        assert_int_equal(good, CASES[i].name != NULL);
    }
}

static void test_other_forms(void **state) {
    (void)state;
    static const struct {
        const char *decorated, *parameters, *full;
    } CASES[] = {
        {"?bump@Widget@ns@@QEAAHH@Z", "ns::Widget::bump(int)",
         "public: int __cdecl ns::Widget::bump(int)"                                                                            },
        {"?f@@YAXPEBDZZ",             "f(char const *, ...)",                                "void __cdecl f(char const *, ...)"},
        {"?g@@YAXP6AHPEAX@Z1@Z",      "g(int (__cdecl *)(void *), int (__cdecl *)(void *))",
         "void __cdecl g(int (__cdecl *)(void *), int (__cdecl *)(void *))"                                                     },
        {"?v@W@@2PEAHEA",             "W::v",                                                "public: static int *W::v"         },
        {"?c@W@@2HB",                 "W::c",                                                "public: static int const W::c"    },
        {"?m@@YAXP8W@@EAAXXZ@Z",      "m(void (__cdecl W::*)(void))",
         "void __cdecl m(void (__cdecl W::*)(void))"                                                                            },
        {"??_7W@@6B@",                "const W::`vftable'",                                  "const W::`vftable'"               },
        {"??_C@_04BJJEOANI@kill@",    "\"kill\"...",                                         "\"kill\"..."                      },
        {".?AVW@ns@@",                "class ns::W `RTTI Type Descriptor Name'",
         "class ns::W `RTTI Type Descriptor Name'"                                                                              },
    };
    AUTO(buf_done) Buf out = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        assert_true(undecorate(str_from_c(CASES[i].decorated), UNDECORATE_PARAMETERS, &out));
        assert_string_equal(out.p, CASES[i].parameters);
        assert_true(undecorate(str_from_c(CASES[i].decorated), UNDECORATE_FULL, &out));
        assert_string_equal(out.p, CASES[i].full);
    }
}

static void test_c_names(void **state) {
    (void)state;
    static const struct {
        const char *raw;
        bool x86;
        const char *name;
    } CASES[] = {
        {"_main",          true,  "main"          },
        {"_main",          false, "_main"         },
        {"_DllMain@12",    true,  "DllMain"       },
        {"@fast@8",        true,  "fast"          },
        {"vector@@32",     false, "vector"        },
        {"vector@@32",     true,  "vector"        },
        {"#ec_function",   false, "ec_function"   },
        {"#?f@@$$hYAHH@Z", false, "f"             },
        {"__imp__Sleep@4", true,  "__imp__Sleep@4"},
        {"_",              true,  "_"             },
        {"@",              true,  "@"             },
        {"main$filt$0",    false, "main$filt$0"   },
    };
    AUTO(arena_done) Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_string_equal(
            str_to_c(&arena, symbol_display_name(str_from_c(CASES[i].raw), CASES[i].x86, &arena)),
            CASES[i].name);
}

// Back references could make a short name endless; depth and size are bounded.
static void test_hostile_names(void **state) {
    (void)state;
    AUTO(buf_done) Buf name = {0}, out = {0};
    for (int i = 0; i < 5000; i++) buf_add_c(&name, "?$A@");
    assert_false(undecorate(buf_str(&name), UNDECORATE_NAME, &out));
    buf_clear(&name);
    buf_add_c(&name, "?f@@YAX");
    for (int i = 0; i < 5000; i++) buf_add_c(&name, "PEA");
    assert_false(undecorate(buf_str(&name), UNDECORATE_FULL, &out));
    buf_clear(&name);
    buf_add_c(&name, "?f@@YAXV?$A@V?$B@H@@@@");
    for (int i = 0; i < 20000; i++) buf_add_c(&name, "0");
    buf_add_c(&name, "@Z");
    assert_false(undecorate(buf_str(&name), UNDECORATE_FULL, &out));
    assert_true(undecorate(buf_str(&name), UNDECORATE_NAME, &out) ||
                str_eq(buf_str(&out), buf_str(&name)));
}

typedef struct Score {
    size_t lines, parameters, full;
} Score;

static void check_line(Str line, Score *score, Buf *out) {
    Str name = {0}, full = {0}, parameters = {0};
    (void)str_next(&line, '\t', &name);
    (void)str_next(&line, '\t', &full);
    (void)str_next(&line, '\t', &parameters);
    score->lines++;
    (void)undecorate(name, UNDECORATE_PARAMETERS, out);
    bool same = str_eq(buf_str(out), parameters);
    score->parameters += same;
    if (!same && score->lines - score->parameters <= 20)
        printf("want " STR_FMT "\n have " STR_FMT "\n", STR_ARG(parameters), STR_ARG(buf_str(out)));
    (void)undecorate(name, UNDECORATE_FULL, out);
    score->full += str_eq(buf_str(out), full);
    if (!str_eq(buf_str(out), full) && score->lines - score->full <= 20)
        printf("full want " STR_FMT "\n     have " STR_FMT "\n", STR_ARG(full),
               STR_ARG(buf_str(out)));
    // The short form decodes whatever the long one decodes.
    bool decoded = undecorate(name, UNDECORATE_NAME, out);
    assert_int_equal(decoded, !str_eq(name, full));
}

static void test_corpus(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str folder = shared_folder(ETW_SOURCE_DIR, "pdbs", &arena), text;
    if (folder.n == 0) skip();
    Str path = path_join(&arena, folder, STR("undname-corpus.tsv"));
    assert_int_equal(file_read_all(path, 64 << 20, &arena, &text, NULL), OK);
    Score score = {0};
    AUTO(buf_done) Buf out = {0};
    for (Str line; str_next(&text, '\n', &line);)
        if (line.n) check_line(line, &score, &out);
    printf("%zu names: %zu with parameters, %zu full equal\n", score.lines, score.parameters,
           score.full);
    assert_true(score.lines > 5000);
    assert_int_equal(score.parameters, score.lines);
    assert_int_equal(score.full, score.lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_other_forms),
        cmocka_unit_test(test_c_names), cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
