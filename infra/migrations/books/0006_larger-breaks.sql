ALTER TABLE "books"."breaks" ADD COLUMN "explained_amount" numeric(78,0);--> statement-breakpoint
ALTER TABLE "books"."breaks" ADD COLUMN "exceeded_at" timestamp (3) with time zone;