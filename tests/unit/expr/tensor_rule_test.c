/* SPDX-License-Identifier: MIT */
#include "expr_help.h"

static void
dtypes_and_shapes_are_worked_out(void **state)
{
	static const struct { const char *x, *text, *want; } rows[] = {
		{ "u8[4,?,3]", "x / 255.0", "f64[4,?,3]" },
		{ "u8[4,?,3]", "cast(x, \"f32\") / 255.0", "f32[4,?,3]" },
		{ "u8[4]", "x + 1", "u8[4]" },
		{ "u8[4]", "-x", "u8[4]" },
		{ "u8[4,3]", "x - mean(x, 0)", "f64[4,3]" },
		{ "i16[4,1]", "x * tensor([1, 2], \"u16\")", "i32[4,2]" },
		{ "u64[2]", "x + tensor([1, 2])", "f64[2]" },
		{ "u8[2]", "x > 1", "bool[2]" },
		{ "u8[2]", "x == null", "bool" },
		{ "any", "cast(x, \"f32\")", "f32[...]" },
		{ "u8[6,4]", "reshape(x, [-1, 3])", "u8[8,3]" },
		{ "u8[?,4]", "reshape(x, [2, -1])", "u8[2,?]" },
		{ "u8[6,4]", "x[0]", "u8[4]" },
		{ "u8[6,4]", "x[0][1]", "int" },
		{ "u8[6,4]", "x[1:3]", "u8[?,4]" },
		{ "f32[6]", "x[0]", "float" },
		{ "u8[6,4]", "x ++ x", "u8[12,4]" },
		{ "u8[4]", "stack([x, x])", "u8[?,4]" },
		{ "u8[6,4]", "shape(x)", "[int]" },
		{ "u8[6,4]", "len(x)", "int" },
		{ "u8[6,4]", "dtype(x)", "text" },
		{ "u8[6,4]", "sum(x)", "int" },
		{ "u8[6,4]", "sum(x, 0)", "u64[4]" },
		{ "f32[6,4]", "mean(x, -1)", "f32[6]" },
		{ "f32[6,4]", "mean(x)", "float" },
		{ "bool[3]", "amax(x)", "bool" },
		{ "u8[6,4]", "amin(x, 1)", "u8[6]" },
		{ "u8[6,4]", "min(x, 9)", "u8[6,4]" },
		{ "u8[3]", "max(x)", "int" },
		{ "u8[3]", "max(x, 0.5, x)", "f64[3]" },
		{ "u8[3]", "where(x > 1, x, 0.5)", "f64[3]" },
		{ "u8[3]", "sqrt(x)", "f64[3]" },
		{ "f32[3]", "floor(x)", "f32[3]" },
		{ "f32[3]", "cast(x, \"bf16\")", "bf16[3]" },
		{ "f16[3]", "x * 0.5 + 1", "f16[3]" },
		{ "f16[3]", "x + cast(x, \"bf16\")", "f32[3]" },
		{ "f16[3]", "x + cast(x, \"f32\")", "f32[3]" },
		{ "bf16[3]", "x + cast(x, \"f64\")", "f64[3]" },
		{ "f16[3]", "x + tensor([1, 2, 3], \"u8\")", "f16[3]" },
		{ "f16[3]", "x + tensor([1, 2, 3], \"i16\")", "f32[3]" },
		{ "bf16[3]", "x + tensor([1, 2, 3], \"u32\")", "f64[3]" },
		{ "f16[6,4]", "mean(x, 0)", "f16[4]" },
		{ "f16[6,4]", "sum(x, 0)", "f16[4]" },
		{ "bf16[6,4]", "sum(x)", "float" },
		{ "f16[6]", "x[0]", "float" },
		{ "bf16[3]", "sqrt(x)", "bf16[3]" },
		{ "f16[3]", "x > 1", "bool[3]" },
		{ "any", "sqrt(x)", "any" },
		{ "any", "x * 2", "any" },
		{ "int", "tensor([[x, 1], [2, 3]])", "any" },
		{ "int", "tensor([[x, 1], [2, 3]], \"f32\")", "f32[?,?]" },
		{ "int", "zeros([x, 3])", "f64[...]" },
		{ "int", "tensor([[1, 2], [3, 4]], \"u8\")", "u8[2,2]" },
		{ "bytes", "tensor(x)", "u8[?]" },
		{ "bytes", "tensor(x, \"i32\")", "i32[?]" },
		{ "u8[3]?", "x + 1", "any" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;
		struct buf out = { 0 };

		if (!help_compile(&h, rows[i].text, rows[i].x))
			fail_msg("%s: %s", rows[i].text, h.e.text);
		type_print(expr_type(h.code), &out);
		if (strcmp((char *)out.data, rows[i].want) != 0)
			fail_msg("%s of %s is %s, not %s", rows[i].text, rows[i].x, (char *)out.data,
				 rows[i].want);
		buf_clear(&out);
		help_clear(&h);
	}
}

static void
shapes_that_do_not_go_together_are_found_before_it_runs(void **state)
{
	static const struct { const char *x, *text, *want; } rows[] = {
		{ "u8[4,3]", "x + tensor([1, 2])", "`+` of u8[4,3] and i64[2]" },
		{ "u8[?,3]", "x < tensor([1, 2])", "`<` of u8[?,3] and i64[2]" },
		{ "u8[3]", "x + \"a\"", "`+` of u8[3] and text" },
		{ "u8[3]", "x + [1, 2]", "`+` of u8[3] and [int]" },
		{ "bool[3]", "x + x", "`+` of bool[3] and bool[3]" },
		{ "u8[4,3]", "x ++ tensor([[1, 2]])", "`++` of u8[4,3] and i64[1,2]" },
		{ "u8[4,3]", "x ++ [1]", "`++` of u8[4,3] and [int]" },
		{ "u8[4,3]", "reshape(x, [5, -1])", "reshape() of u8[4,3] to u8[5,?]: another number of numbers" },
		{ "u8[4,3]", "reshape(x, [-2])", "a shape is a list of lengths" },
		{ "u8[4,3]", "sum(x, 2)", "there is no axis 2 in a tensor of 2" },
		{ "u8[4,3]", "amax(x, -3)", "there is no axis -3 in a tensor of 2" },
		{ "u8[4,3]", "cast(x, \"f12\")", "there is no dtype \"f12\": u8 to u64, i8 to i64, f16 to f64, bf16, bool" },
		{ "int", "cast(x, \"f32\")", "cast() takes a tensor here, not int" },
		{ "int", "stack([x])", "stack() takes a list of tensors (tensor() makes one of numbers)" },
		{ "u8[4,3]", "min(x, tensor([1, 2]))", "min() and max() of u8[4,3] and i64[2]" },
		{ "u8[4,3]", "where(x, 1, 2)", "where() takes a tensor of bools first, as x > 0 makes one" },
		{ "u8[4,3]", "where(x > 1, tensor([1]), 2)", "where() of tensors of different shapes" },
		{ "u8[4,3]", "x[1.5]", "an index is an int, not float" },
		{ "u8[]", "x[0]", "a tensor without axes is one number and has no items" },
		{ "u8[3]", "x ? 1 : 2", "the condition of `?:` needs a test, not u8[3]" },
		{ "u8[3]", "x.a", "u8[3] has no fields" },
		{ "any", "zeros([1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])", "a tensor has at most 16 axes, not 17" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;

		if (help_compile(&h, rows[i].text, rows[i].x))
			fail_msg("%s was accepted", rows[i].text);
		if (strcmp(h.e.text, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].text, h.e.text);
		help_clear(&h);
	}
}
