ALTER TABLE "payouts"."payouts" RENAME COLUMN "look_at" TO "next_check_at";--> statement-breakpoint
ALTER TABLE "payouts"."payouts" RENAME COLUMN "looks" TO "checks";--> statement-breakpoint
ALTER INDEX "payouts"."payouts_look" RENAME TO "payouts_next_check";
