UPDATE "books"."breaks" SET "explained_amount" = "amount", "exceeded_at" = NULL
WHERE "rests_until" IS NOT NULL AND "explained_amount" IS NULL AND "closed_at" IS NULL;
